import { residentMb } from '../../bench/measures.ts';
import type { TestDaemon } from '../../device/daemon.ts';
import { ask } from '../../support/ask.ts';
import { runCommand } from '../../device/command.ts';
import { DEPOTCTL } from '../../cli/start-depotctl.ts';
import { activeIn } from './texts.ts';

/** As the start script has it. */
export const NODE_FLAGS = ['--max-old-space-size=64', '--v8-pool-size=1'];

/** At rest it has some 65 MB; young objects and buffers come and go on top of its heap. */
const MOST_MB = 180;
/** Of another client, on a machine that is busy with other things, too. */
const MOST_MS = 5000;

/** Another client of the daemon, while somebody means it harm. */
export interface Watch {
  /** Asks meanwhile. @returns what no longer holds, if something does not */
  during: (harm: () => Promise<string | undefined>) => Promise<string | undefined>;
  /** Runs depotctl. @returns what of its output acts on a terminal */
  terminal: (...words: readonly string[]) => Promise<string | undefined>;
}

export function watch(daemon: TestDaemon): Watch {
  const { pid } = daemon;
  const askHealth = async (): Promise<string | undefined> => {
    const began = performance.now();
    const { status } = await ask(`${daemon.url}/healthz`);
    const ms = performance.now() - began;
    // 503: something is wrong with the feed or the fleet, and it says so.
    if (status !== 200 && status !== 503) return `/healthz answered ${status}`;
    return ms < MOST_MS ? undefined : `/healthz took ${Math.round(ms)} ms`;
  };
  const whole = async (): Promise<string | undefined> => {
    try {
      process.kill(pid, 0);
      return await askHealth();
    } catch (error) {
      return `the daemon is gone: ${String(error)}; ${daemon.log.slice(-3).join('\n')}`;
    }
  };
  return {
    during: async (harm) => {
      const meanwhile = { isOver: false };
      const asking = askUntil(meanwhile, whole);
      const found = await harm().finally(() => (meanwhile.isOver = true));
      const problem = (await asking) ?? (await whole());
      if (problem !== undefined) return problem;
      const mb = residentMb(pid);
      return found ?? (mb > MOST_MB ? `the daemon has ${mb.toFixed(0)} MB` : undefined);
    },
    terminal: async (...words) => {
      const { stdout, stderr } = await runCommand(
        [process.execPath, DEPOTCTL, '--url', daemon.url, ...words],
        { env: { ...process.env, DEPOTCTL_SESSION: '', NO_COLOR: '1' } },
      );
      // A task's log comes from its terminal: its lines end so, and it draws progress.
      const [output = '', errors = ''] = [stdout, stderr].map((text) => text.replaceAll('\r', ''));
      const problem = activeIn(output) ?? activeIn(errors);
      return problem === undefined ? undefined : `depotctl ${words.join(' ')} ${problem}`;
    },
  };
}

async function askUntil(
  meanwhile: { isOver: boolean },
  whole: () => Promise<string | undefined>,
): Promise<string | undefined> {
  for (;;) {
    const problem = await whole();
    if (problem !== undefined || meanwhile.isOver) return problem;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
