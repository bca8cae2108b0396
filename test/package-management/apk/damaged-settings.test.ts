import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

import { oneProgram as one, openApkStore, type ApkStore } from './open-store.ts';

/** Files that tell apk whom to trust and what fits the device, damaged: each is named. */
let store: ApkStore;
beforeAll(async () => {
  store = await openApkStore({ packages: [one('plain', '1.0-r1')] });
});
afterAll(() => store.close());

const put = new Map<string, Buffer>();
async function damage(file: string, edit: (sound: Buffer) => Buffer): Promise<string> {
  const path = join(store.device.root, file);
  const sound = await readFile(path);
  put.set(path, sound);
  await writeFile(path, edit(sound));
  return path;
}

/** Whatever was damaged: it is put back, and the next job works. */
afterEach(async () => {
  for (const [path, sound] of put) await writeFile(path, sound);
  put.clear();
  expect((await store.run('update')).state).toBe('done');
  expect((await store.run('install', { package: 'plain' })).state).toBe('done');
  expect((await store.run('remove', { package: 'plain' })).state).toBe('done');
});

test.each([
  ['cut', (sound: Buffer) => sound.subarray(0, 3)],
  ['full of zeros', (sound: Buffer) => Buffer.alloc(sound.length)],
  ['garbage', () => Buffer.from('<html>\n')],
])('/etc/apk/arch that is %s is named, with what belongs there', async (_, edit) => {
  await damage('etc/apk/arch', edit);

  const { state, error, error_code, remedy } = await store.run('install', { package: 'plain' });

  expect([state, error_code, error, remedy]).toEqual([
    'failed',
    'wrong_architecture',
    expect.stringMatching(
      /^cannot install plain: \/etc\/apk\/arch lacks x86_64, the architecture of \S+, which is/,
    ),
    'Write x86_64 into /etc/apk/arch on a line of its own, then try again.',
  ]);
});

test.each([
  ['empty', () => Buffer.alloc(0)],
  ['cut', (sound: Buffer) => sound.subarray(0, 60)],
  ['garbage', () => Buffer.from('<html>\n')],
])('a key that is %s is named by the update', async (_, edit) => {
  const [name = ''] = await readdir(join(store.device.root, 'etc/apk/keys'));
  const path = await damage(`etc/apk/keys/${name}`, edit);

  const { state, error, error_code } = await store.run('update');

  expect([state, error_code, error]).toEqual([
    'failed',
    'signature',
    expect.stringContaining(`which is not there; ${path} holds no public key`),
  ]);
});

test('a damaged world is named by the list of what is available, too', async () => {
  // Written again, so that no answer of before serves.
  await damage('etc/apk/arch', (sound) => sound);
  const path = await damage('etc/apk/world', () => Buffer.from('<<<\n'));

  const ask = () => store.daemon.get('admin/store/available');
  await expect.poll(async () => (await ask()).status, { timeout: 10_000 }).toBe(503);
  expect(await (await ask()).json()).toMatchObject({
    msg: expect.stringContaining(`${path}: line 1`) as string,
  });
});
