import { appendFile, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Bench } from './bench.ts';
import type { Damage } from './faults.ts';
import { killAll, processesOfRoot } from './process-scan.ts';

/** Does to the files of a daemon that is not running what a bad medium or an older version does. */
export async function doDamage(bench: Bench, damage: Damage): Promise<void> {
  const at = (path: string): string => join(bench.device.root, path);
  const records = at('etc/depotd/jobs.jsonl');
  const insert = async (line: string): Promise<void> => {
    const text = await readFile(records, 'utf8').catch(() => '');
    const [first = '', ...rest] = text.split('\n');
    await writeFile(records, [first, line, ...rest].join('\n'));
  };
  const exits = at('tmp/log/depotd/exits');
  const eachExit = async (text: string): Promise<void> => {
    for (const name of await readdir(exits).catch(() => [])) {
      await writeFile(join(exits, name), text);
    }
  };
  switch (damage) {
    case 'a torn line at the end of the records':
      return appendFile(records, '{"id":"00000000000000000000000000000000","kind":"ins');
    case 'a line that is no JSON among the records':
      return insert('<html>\0\0\0');
    case 'a record without its fields among the records':
      return insert('{"id":"00000000000000000000000000000000","state":"running"}');
    case 'a record that is nested deeply':
      return insert(`{"id":"0","memory":${'['.repeat(20_000)}${']'.repeat(20_000)}}`);
    case 'an exit file that is empty':
      return eachExit('');
    case 'an exit file that holds no number':
      return eachExit('x\ny\n');
    case 'the task logs are gone':
      return rm(at('tmp/log/depotd'), { recursive: true, force: true });
    case 'the run records are no JSON':
      return writeFile(at('etc/depotd/run-records.json'), '{"id":');
    case 'the copy of the status file is cut off':
      return cutCopies(at('etc/depotd'));
  }
}

/** Nothing of the jobs lives on, and the machine comes up under another boot. */
export async function cutPower(bench: Bench): Promise<void> {
  killAll(await processesOfRoot(bench.device.root));
  const records = join(bench.device.root, 'etc/depotd/jobs.jsonl');
  const bootId = (await readFile('/proc/sys/kernel/random/boot_id', 'latin1')).trim();
  const text = await readFile(records, 'utf8').catch(() => '');
  await writeFile(records, text.replaceAll(bootId, '00000000-0000-0000-0000-000000000000'));
}

async function cutCopies(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    if (!name.includes('status')) continue;
    const file = join(folder, name);
    const content = await readFile(file).catch(() => Buffer.alloc(0));
    await writeFile(file, content.subarray(0, content.length / 2)).catch(() => undefined);
  }
}
