import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';

import { createApk } from '../../device/apk-device/apk.ts';
import { openApkStore, WORLD, type ApkStore } from './open-store.ts';

let store: ApkStore;
beforeAll(async () => {
  store = await openApkStore();
});
afterAll(() => store.close());

let sound: string;
/** The upload that is to be undone. */
let upload: string;
beforeEach(async () => {
  upload = (await store.upload(createApk({ name: 'former', version: '1.0-r1' }).bytes)).id;
  await store.device.apk('add', 'app-meta-demo');
  sound = await readFile(join(store.device.root, 'etc/apk/world'), 'utf8');
});

/** Whatever was damaged and done: its owner asks for what is there. */
afterEach(async () => write([...WORLD, ...Object.keys(await store.packages()), ''].join('\n')));

const write = (text: string): Promise<void> =>
  writeFile(join(store.device.root, 'etc/apk/world'), text);
const DAMAGE: [string, () => string | undefined][] = [
  ['that is empty', () => ''],
  ['that is gone', () => undefined],
  ['with a line that is none', () => `${sound}<<<\n`],
  ['with a name that no feed has', () => `${sound}unheard-of\n`],
  ['with a name twice', () => `${sound}app-meta-demo\nlibc\n`],
  ['without the base system', () => 'app-meta-demo\n'],
  ['that lost an app', () => WORLD.join('\n')],
];
test.each(DAMAGE)('a world %s has no job remove a base package', async (_, textOf) => {
  const text = textOf();
  if (text === undefined) await rm(join(store.device.root, 'etc/apk/world'));
  else await write(text);

  for (const [operation, params] of [
    ['install', { package: 'virt' }],
    ['upgrade', { package: 'demo' }],
    ['update', {}],
    ['autoconf', { package: 'demo' }],
    ['unrun', { id: upload }],
    ['remove', { package: 'demo' }],
  ] as const) {
    const answer = await store.daemon.post(`admin/store/${operation}`, params);
    const { task_id: id } = (await answer.json()) as { task_id?: string };
    if (id !== undefined) await store.daemon.finished(id);
  }
  await store.upload(createApk({ name: 'sent', version: '1.0-r1' }).bytes).catch(() => undefined);

  const database = await store.device.database();
  expect(WORLD.filter((name) => !database.has(name))).toEqual([]);
});
