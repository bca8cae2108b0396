import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { openStore, type Store } from './open-store.ts';

let store: Store;
let metaFolder: string;

beforeAll(async () => {
  store = await openStore();
  metaFolder = join(store.device.root, 'usr/lib/opkg/meta');
});

afterAll(() => store.close());

const SHOWN = { timeout: 1000, interval: 50 };
const names = async (): Promise<unknown[]> => (await store.installed()).map(({ name }) => name);

test('what opkg on the command line installs, upgrades and removes shows within a second', async () => {
  await store.device.opkg('install', 'app-meta-demo');
  await expect.poll(names, SHOWN).toEqual(['demo']);

  store.device.publish(2);
  await store.device.opkg('update');
  await store.device.opkg('upgrade', 'app-meta-demo');
  await expect.poll(async () => (await store.statusOf('demo')).version, SHOWN).toBe('1.1');

  await store.device.opkg('remove', 'app-meta-demo');
  await expect.poll(names, SHOWN).toEqual([]);
});

test('the entity tag changes with the list', async () => {
  const first = (await store.daemon.get('admin/store/installed')).headers.get('etag') ?? '';
  await store.device.opkg('install', 'app-meta-notes');
  await expect.poll(names, SHOWN).toEqual(['notes']);

  const again = await store.daemon.get('admin/store/installed', { 'If-None-Match': first });

  expect(again.status).toBe(200);
  expect(again.headers.get('etag')).not.toBe(first);
});

test.each(['{', '', '[]', 'null', '"text"', '\0\0\0'])(
  'an app whose meta file holds %j is listed as broken',
  async (content) => {
    await store.device.opkg('install', 'app-meta-demo');
    await writeFile(join(metaFolder, 'demo.json'), '{"title":"Demo"}');
    await expect.poll(async () => (await store.statusOf('demo')).title, SHOWN).toBe('Demo');

    await writeFile(join(metaFolder, 'demo.json'), content);

    await expect.poll(async () => (await store.statusOf('demo')).broken, SHOWN).toBe(true);

    expect((await store.installed()).find(({ name }) => name === 'demo')).toMatchObject({
      name: 'demo',
      title: 'demo',
      version: '0.0.0',
      tags: ['broken'],
      broken: true,
    });
  },
);

test('what is wrong in one key of a meta file costs that key alone, and further keys pass through', async () => {
  await writeFile(
    join(metaFolder, 'demo.json'),
    JSON.stringify({
      name: 'other',
      title: 7,
      tags: 'x',
      version: '3.0',
      release: 1.5,
      colour: { red: [1] },
      installed: 'no',
      time: 'never',
    }),
  );

  await expect.poll(async () => (await store.statusOf('demo')).version, SHOWN).toBe('3.0');

  const { time, ...rest } = await store.statusOf('demo');
  expect(rest).toEqual({ name: 'demo', version: '3.0', colour: { red: [1] }, installed: true });
  expect(time).toBeTypeOf('number');
});

test('a meta file whose package is not installed, or whose name is no package name, is not listed', async () => {
  await writeFile(join(metaFolder, 'ghost.json'), '{"title":"Ghost"}');
  await writeFile(join(metaFolder, '-o.json'), '{"title":"Option"}');
  await mkdir(join(metaFolder, 'folder.json'));
  await store.device.opkg('install', 'virt');
  await expect.poll(async () => (await store.statusOf('virt')).installed, SHOWN).toBe(true);

  expect(await names()).toEqual(['demo', 'notes']);
});

test('a meta folder that goes and comes again is followed', async () => {
  await rm(metaFolder, { recursive: true, maxRetries: 20, retryDelay: 100 });
  await expect.poll(names, SHOWN).toEqual([]);

  await mkdir(metaFolder);
  await writeFile(join(metaFolder, 'notes.json'), '{"title":"Notes"}');

  await expect.poll(names, SHOWN).toEqual(['notes']);
});
