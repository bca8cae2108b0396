import { readdir, readFile } from 'node:fs/promises';

/** Ids of the processes that were started for a job of the daemon with this device root. */
export async function processesOfRoot(root: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
      return environment.includes('\0DEPOTD_JOB=') && environment.includes(`${root}/`);
    }),
  );
  return pids.filter((_, index) => found[index]).map(Number);
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

export function killAll(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  }
}
