import { readdir, readFile } from 'node:fs/promises';

import { systemCode } from '../../../src/errors.ts';

/** The programs that run for a device in a folder: of one name, or all but its daemon. */
export async function processesOf(
  root: string,
  name?: string,
): Promise<{ pid: number; command: string }[]> {
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry)).map(Number);
  const found: { pid: number; command: string }[] = [];
  for (const pid of pids) {
    const [environment, command] = await Promise.all(
      ['environ', 'cmdline'].map((file) =>
        readFile(`/proc/${pid}/${file}`, 'latin1').catch(() => ''),
      ),
    );
    const isOfDevice = environment?.split('\0').includes(`IPKG_INSTROOT=${root}`) === true;
    const words = (command ?? '').split('\0').filter((word) => word !== '');
    if (!isOfDevice || words.length === 0 || isDaemon(words)) continue;
    const isNamed = words.slice(0, 3).some((word) => word.split('/').at(-1) === name);
    if (name === undefined || isNamed) found.push({ pid, command: words.join(' ') });
  }
  return found;
}

function isDaemon(words: readonly string[]): boolean {
  return words.some((word) => word.endsWith('/start.cjs'));
}

/** Kills what `processesOf` finds. One that has ended by itself meanwhile is as good as killed. */
export async function killProcesses(root: string, name?: string): Promise<void> {
  for (const { pid } of await processesOf(root, name)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if (systemCode(error) !== 'ESRCH') throw error;
    }
  }
}
