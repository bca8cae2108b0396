import { watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';

/** How a command ended: its exit code, or that it never started. */
export type Exit = { exitCode: number } | 'not-run';

/**
 * A command that went without leaving a code was killed together with its holder: 128 + SIGKILL, as
 * a shell says it.
 */
const KILLED = 137;
/** The watch is what tells; this is for a holder that was killed and leaves nothing to watch. */
const LIVENESS_MS = 1000;

/**
 * Waits until a command has ended, whoever started it. `isAlive` asks for the command's holder,
 * whose process id is `pid`; `ended`, where there is one, hints that it went.
 */
export async function waitForExit(options: {
  file: string;
  pid: number;
  isAlive: () => Promise<boolean>;
  ended?: Promise<void>;
}): Promise<Exit> {
  const { file, pid, isAlive } = options;
  let wake: () => void = () => undefined;
  const watcher = watch(dirname(file), { persistent: false }, (_, name) => {
    if (name === basename(file)) wake();
  });
  watcher.on('error', () => wake());
  void options.ended?.then(() => wake());
  try {
    for (;;) {
      const woken = new Promise<void>((resolve) => (wake = resolve));
      const exit = await readExit(file, pid);
      if (exit !== undefined) return exit;
      if (!(await isAlive())) return (await readExit(file, pid)) ?? { exitCode: KILLED };
      const timer = setTimeout(wake, LIVENESS_MS);
      await woken;
      clearTimeout(timer);
    }
  } finally {
    watcher.close();
  }
}

/**
 * A file that another holder wrote is what is left of one that never got its go: it tells nothing
 * of this command.
 */
async function readExit(file: string, pid: number): Promise<Exit | undefined> {
  const text = await readFile(file, 'latin1').catch(() => '');
  if (!text.endsWith('\n')) return undefined;
  const [code = '', holder] = text.split('\n');
  if (holder !== String(pid)) return undefined;
  return code === 'not-run' ? 'not-run' : { exitCode: Number.parseInt(code, 10) };
}
