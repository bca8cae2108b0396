import { readdir, readFile } from 'node:fs/promises';

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
    if (!isOfDevice || words.length === 0 || words.join(' ').includes('depotd.mjs')) continue;
    const isNamed = words.slice(0, 3).some((word) => word.split('/').at(-1) === name);
    if (name === undefined || isNamed) found.push({ pid, command: words.join(' ') });
  }
  return found;
}
