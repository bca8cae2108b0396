import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { residentMb } from './measures.ts';

/** The built daemon on an empty root, before a forge. */
export interface BareDaemon {
  url: string;
  pid: number;
  /** Resident memory once the start has been cleaned up, in MiB. */
  resting: () => Promise<number>;
  /** The most that was resident since the last call of `settled`, in MiB. */
  peakMb: () => number;
  close: () => Promise<void>;
}

/** What the daemon needs to give back what its start took, in milliseconds. */
const SETTLING_MS = 4000;

export async function startBareDaemon(upstream: string): Promise<BareDaemon> {
  const root = await mkdtemp(join(tmpdir(), 'depotd-bench-'));
  const options = [
    `main.root=${root}`,
    'main.auth=none',
    'main.owner_socket=',
    'main.listen=127.0.0.1:0',
    `forge.upstream=${upstream}`,
  ];
  const program = fileURLToPath(new URL('../../dist/start.cjs', import.meta.url));
  const daemon = spawn(
    process.execPath,
    [program, '--config', '/dev/null', ...options.flatMap((option) => ['--set', option])],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let log = '';
  while (!/"port":\d+/.test(log)) {
    log += String(await Promise.race([once(daemon.stderr, 'data'), once(daemon, 'exit')]));
  }
  // What fails under strain is logged; nobody reads it here.
  daemon.stderr.resume();
  const pid = daemon.pid ?? 0;
  return {
    url: `http://127.0.0.1:${/"port":(\d+)/.exec(log)?.[1] ?? ''}`,
    pid,
    resting: async () => {
      await new Promise((resolve) => setTimeout(resolve, SETTLING_MS));
      // Sets the peak back to what is resident now (proc(5), clear_refs).
      await writeFile(`/proc/${pid}/clear_refs`, '5');
      return residentMb(pid);
    },
    peakMb: () => residentMb(pid, 'VmHWM'),
    close: async () => {
      daemon.kill('SIGTERM');
      if (daemon.exitCode === null) await once(daemon, 'exit');
      await rm(root, { recursive: true, force: true });
    },
  };
}
