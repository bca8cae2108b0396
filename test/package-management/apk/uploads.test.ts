import { cp, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { apkSignature, type ApkFeedPackage } from '../../device/apk-device/apk-index.ts';
import { createApk } from '../../device/apk-device/apk.ts';
import { asOfAnotherBoot } from '../../support/power-cut.ts';
import { uploadFile } from '../../features/undo/undo-tasks.ts';
import { oneProgram as one, openApkStore, type ApkStore } from './open-store.ts';

let store: ApkStore;
beforeAll(async () => {
  store = await openApkStore({
    packages: [
      one('plain', '1.0-r1'),
      one('needed', '1.0-r1'),
      one('app', '1.0-r1', { depends: ['needed'] }),
    ],
  });
});
afterAll(() => store.close());
afterEach(() => store.clear());

const sent = (version: string, more: Partial<ApkFeedPackage> = {}): Buffer =>
  createApk(one('sent', version, more)).bytes;

test('an uploaded package newer, older and the same again: the file always wins', async () => {
  for (const version of ['1.0-r1', '2.0-r1', '0.5-r1', '0.5-r1']) {
    expect((await store.upload(sent(version))).state).toBe('done');
    expect(await store.packages()).toEqual({ sent: version });
  }
});

test('a job leaves the folder that apk works in as it was, to spare the flash', async () => {
  await store.upload(sent('1.0-r1'));
  const folder = join(store.device.root, 'etc/depotd/apk/empty');
  const { ino, ctimeMs } = await stat(folder);

  await store.upload(sent('2.0-r1'));

  expect(await stat(folder)).toMatchObject({ ino, ctimeMs });
});

test.each(['trusted', 'other'] as const)(
  'a package file that is signed is installed as one that is not: by the %s key',
  async (signer) => {
    const bytes = sent('1.0-r1');

    const { state, error } = await store.upload(
      Buffer.concat([apkSignature(bytes, signer), bytes]),
    );

    expect([state, error]).toEqual(['done', undefined]);
    expect(await store.packages()).toEqual({ sent: '1.0-r1' });
  },
);

test('a package file that a trusted key signed as another one changes nothing', async () => {
  const forged = Buffer.concat([apkSignature(sent('1.0-r1'), 'trusted'), sent('2.0-r1')]);

  const { state, error_code, error } = await store.upload(forged);

  expect([state, error_code, error]).toEqual([
    'failed',
    'damaged_package',
    'cannot install sent: its signature is of other bytes: it was damaged or changed',
  ]);
  expect(await store.packages()).toEqual({});
});

test('a file whose script fails leaves the version that was there, asked for as it was', async () => {
  await store.device.apk('add', 'plain');
  const before = await store.device.world();
  const scripts = { 'post-upgrade': '#!/bin/sh\nexit 7\n' };

  const { state, error_code } = await store.upload(
    createApk(one('plain', '2.0-r1', { scripts })).bytes,
  );

  expect([state, error_code]).toEqual(['failed', 'script_failed']);
  expect(await store.packages()).toEqual({ plain: '1.0-r1' });
  expect(await store.device.read('usr/bin/plain')).toBe('plain 1.0-r1\n');
  expect(await store.device.world()).toEqual(before);
});

test.each(['1.0 r', '1.0\u00e4'])('a file of the version "%s" is refused', async (version) => {
  await expect(store.upload(sent(version))).rejects.toThrow('its version is');
});

test('an upload for another architecture is refused by name', async () => {
  const { state, error } = await store.upload(sent('1.0-r1', { architecture: 'mips_24kc' }));

  expect([state, error]).toEqual(['failed', expect.stringContaining('mips_24kc')]);
});

test('an upload that would take over another one’s file changes nothing', async () => {
  await store.device.apk('add', 'plain');
  const before = [await store.packages(), await store.device.world()];

  const { state, error } = await store.upload(
    sent('1.0-r1', { files: { '/usr/bin/plain': 'mine\n' } }),
  );

  expect([state, error]).toEqual([
    'failed',
    expect.stringContaining('sent would replace /usr/bin/plain, which belongs to plain'),
  ]);
  expect([await store.packages(), await store.device.world()]).toEqual(before);
});

test('an upload is upgraded by a feed only when its pin was let go', async () => {
  await store.upload(createApk(one('needed', '0.1-r1')).bytes);

  const held = await store.run('upgrade', { package: 'needed' });
  expect([held.state, held.error]).toEqual([
    'failed',
    expect.stringContaining('holds it at 0.1-r1'),
  ]);
  await store.run('install', { package: 'needed' });
  expect((await store.run('upgrade', { package: 'needed' })).state).toBe('done');
  expect(await store.packages()).toEqual({ needed: '1.0-r1' });
});

test('undone, an upload over a dependency leaves it as one: it goes with what needs it', async () => {
  await store.device.apk('add', 'app');
  const before = await store.device.world();
  const { id } = await store.upload(createApk(one('needed', '2.0-r1')).bytes);

  expect((await store.run('unrun', { id })).state).toBe('done');

  expect(await store.packages()).toEqual({ app: '1.0-r1', needed: '1.0-r1' });
  expect(await store.device.world()).toEqual(before);
  await store.run('remove', { package: 'app' });
  expect(await store.packages()).toEqual({});
});

test('two uploads over a dependency leave it as one, undone the newest first', async () => {
  await store.device.apk('add', 'app');
  const before = await store.device.world();
  const ids = [];
  for (const version of ['2.0-r1', '3.0-r1']) {
    ids.push((await store.upload(createApk(one('needed', version)).bytes)).id);
  }

  for (const id of ids.reverse()) {
    expect((await store.run('unrun', { id })).state).toBe('done');
  }

  expect(await store.device.world()).toEqual(before);
});

test('undone, an upload over what nothing needs any more leaves it asked for', async () => {
  await store.device.apk('add', 'app');
  const { id } = await store.upload(createApk(one('needed', '2.0-r1')).bytes);
  await store.run('remove', { package: 'app' });

  await store.run('unrun', { id });

  expect(await store.device.world()).toContain('needed');
});

describe('a file of a package that the device cannot do without', () => {
  const busybox = (version: string, files: ApkFeedPackage['files']): Buffer =>
    createApk({ name: 'busybox', version, depends: ['libc'], files: files ?? {} }).bytes;
  const state = async (): Promise<unknown> => [
    (await store.device.database()).get('busybox')?.version,
    await store.device.read('bin/busybox'),
    await store.device.world(),
  ];

  test.each([
    ['older, without files', '0.1-r1', {}],
    ['newer, without files', '99.0-r1', {}],
    ['with other files', '99.0-r1', { '/bin/other': 'other\n' }],
  ])('%s changes nothing, and is told what it lacks', async (_, version, files) => {
    const before = await state();

    const { state: end, error, error_code } = await store.upload(busybox(version, files));

    expect([end, error_code, error]).toEqual([
      'failed',
      'essential',
      'cannot install busybox: the file lacks /bin/busybox of the busybox that is installed, ' +
        'and the device needs it',
    ]);
    expect(await state()).toEqual(before);
  });

  test.each(['1.36.0-r1', '1.38.0-r1'])(
    'with all of its files is installed: %s',
    async (version) => {
      const { id, state: end } = await store.upload(
        busybox(version, { '/bin/busybox': `busybox ${version}\n`, '/bin/more': 'more\n' }),
      );

      expect([end, (await state()) as unknown[]]).toEqual([
        'done',
        expect.arrayContaining([version, `busybox ${version}\n`]),
      ]);
      await store.run('unrun', { id });
    },
  );
});

test('an upload that had done all when the power went is done, and its version stays', async () => {
  const at = (name: string): string => join(store.device.root, name);
  await store.device.apk('add', 'plain');
  const slow = '#!/bin/sh\nwhile [ ! -e "$IPKG_INSTROOT/tmp/go" ]; do sleep 0.05; done\n';
  const newer = createApk(one('plain', '2.0-r1', { scripts: { 'post-upgrade': slow } }));
  const id = await uploadFile(store.daemon, newer.bytes, 'plain.apk');
  await expect.poll(() => store.daemon.logOf(id)).toContain('Upgrading plain');
  await cp(at('etc/depotd'), at('mnt/state'), { recursive: true });
  await writeFile(at('tmp/go'), '');
  await store.daemon.finished(id);
  await store.daemon.kill('SIGKILL');
  // As it was when the power went: the upload is on record, and its end is not.
  await rm(at('mnt/state/run-records.json'), { force: true });
  await cp(at('mnt/state'), at('etc/depotd'), { recursive: true });
  await asOfAnotherBoot(at('etc/depotd/jobs.jsonl'));

  await store.daemon.restart();

  const { state, packages } = await store.daemon.finished(id);
  expect([state, packages]).toEqual(['done', ['plain']]);
  expect(await store.packages()).toEqual({ plain: '2.0-r1' });
});
