import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { hasEntry } from '../../../src/device/is-there.ts';
import { processesOf } from './device-processes.ts';
import type { ApkStore } from './open-store.ts';

/**
 * Record and disk say the same of the packages `early` and `late`, and nothing is left of what was
 * broken off.
 * @param what was done, for messages
 */
export async function expectAgreement({ device }: ApkStore, what = ''): Promise<void> {
  const { root } = device;
  const database = await device.database();
  expect([what, (await device.apk('audit', '--system')).stdout]).toEqual([what, '']);
  for (const name of ['early', 'late']) {
    const record = database.get(name);
    expect([what, name, record?.flags.replace('S', '') ?? '']).toEqual([what, name, '']);
    const program = await device.read(`usr/bin/${name}`);
    const expected = record === undefined ? undefined : `${name} ${record.version}\n`;
    expect([what, name, program]).toEqual([what, name, expected]);
    for (const path of [`usr/share/${name}/data`, `etc/init.d/${name}`, ...(record?.files ?? [])]) {
      const isThere = await hasEntry(join(root, path));
      expect([what, path, isThere]).toEqual([what, path, record !== undefined]);
    }
    const hasFolder = await hasEntry(join(root, `usr/share/${name}`));
    expect([what, name, hasFolder]).toEqual([what, name, record !== undefined]);
  }
  for (const line of await device.world()) {
    expect([what, line, database.has(line)]).toEqual([what, line, true]);
  }
  const cached = await readdir(join(root, 'var/cache/apk')).catch(() => []);
  expect([what, cached.filter((name) => name.includes('.apk'))]).toEqual([what, []]);
  const temporary = await readdir(join(root, 'usr/bin')).catch(() => []);
  expect([what, temporary.filter((name) => name.startsWith('.apk.'))]).toEqual([what, []]);
  expect([what, await processesOf(root)]).toEqual([what, []]);
}
