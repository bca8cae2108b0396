import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { createApkDevice, type ApkDevice } from '../../device/apk-device/apk-device.ts';
import { createApkFeedFiles, INDEX_NAME } from '../../device/apk-device/apk-index.ts';
import { startDaemon, type TestDaemon } from '../../device/daemon.ts';
import { createFeedOf, type Feed } from '../../device/feed.ts';
import { aroundTests } from '../../support/around-tests.ts';
import { change, feedOf, feedsOf } from './feed-answer.ts';

const PACKAGES = [{ name: 'extra-tool', version: '1.0-r1', files: {} }];
const CUSTOM = 'etc/apk/repositories.d/customfeeds.list';

let device: ApkDevice;
let daemon: TestDaemon;
let feed: Feed;
let url: string;

const nothingChanged = aroundTests(
  async () => {
    device = await createApkDevice();
    daemon = await startDaemon(device);
    feed = await createFeedOf(createApkFeedFiles(PACKAGES));
    url = `${feed.url}/${INDEX_NAME}`;
  },
  async () => {
    await daemon.close();
    await device.close();
    await feed.close();
  },
);

test('a feed that is added is fetched, its packages can be installed, and apk takes the file', async () => {
  expect((await change(daemon, 'add_feed', { name: 'mine', url })).state).toBe('done');
  expect(await device.read(CUSTOM)).toBe(
    `# add your custom package feeds here\n# feed: mine\n${url}\n`,
  );
  expect(await feedOf(daemon, 'mine')).toMatchObject({
    url,
    kind: 'custom',
    enabled: true,
    packages: 1,
    key: 'lab.pem',
  });
  expect(await device.apk('update')).toMatchObject({ code: 0, stderr: '' });
  expect((await device.apk('add', 'extra-tool')).code).toBe(0);
});

test.each([
  ['missing', 'download_failed'],
  ['html', 'damaged_package'],
  ['truncated', 'damaged_package'],
] as const)('one whose index is %s changes nothing', async (fault, code) => {
  const before = await device.read(CUSTOM);
  feed.misbehave(INDEX_NAME, fault);
  expect(await change(daemon, 'add_feed', { name: 'mine', url })).toMatchObject({
    state: 'failed',
    error_code: code,
  });
  expect(await device.read(CUSTOM)).toBe(before);
  expect(await readdir(join(device.root, 'tmp/cache/apk'))).toEqual([]);
  feed.behave();
  nothingChanged();
});

test.each(['other', 'nobody'] as const)(
  'one that is signed by %s is refused for its signature',
  async (signer) => {
    feed.publishFiles(createApkFeedFiles(PACKAGES, signer));
    const task = await change(daemon, 'add_feed', { name: 'mine', url });
    expect(task).toMatchObject({ state: 'failed', error_code: 'signature' });
    expect(task.error).toContain(signer === 'nobody' ? 'it is not signed' : 'the key lab.pem');
    expect(await feedOf(daemon, 'mine')).toBeUndefined();
    feed.publishFiles(createApkFeedFiles(PACKAGES));
    nothingChanged();
  },
);

test('a feed of the firmware is switched off and on, and cannot be removed', async () => {
  await device.apk('update');
  const [{ name } = { name: '' }] = (await feedsOf(daemon)).feeds;
  expect(name).toBe('feed');
  const dist = 'etc/apk/repositories.d/distfeeds.list';
  const before = await device.read(dist);

  expect((await daemon.post('admin/store/remove_feed', { name })).status).toBe(409);
  expect((await change(daemon, 'set_feed', { name, enabled: '0' })).state).toBe('done');
  expect(await device.read(dist)).toBe(`# ${before ?? ''}`);
  expect(await feedOf(daemon, name)).toMatchObject({ enabled: false, kind: 'system' });
  expect(await readdir(join(device.root, 'tmp/cache/apk'))).toEqual([]);
  expect((await change(daemon, 'set_feed', { name, enabled: '1' })).state).toBe('done');
  expect(await device.read(dist)).toBe(before);
  expect((await feedOf(daemon, name))?.packages).toBeGreaterThan(10);
});

test('a feed of the owner is removed with its name and its index', async () => {
  const before = await device.read(CUSTOM);
  await change(daemon, 'add_feed', { name: 'mine', url });
  expect((await change(daemon, 'remove_feed', { name: 'mine' })).state).toBe('done');
  expect(await device.read(CUSTOM)).toBe(before);
  expect(await readdir(join(device.root, 'tmp/cache/apk'))).toEqual([]);
  nothingChanged();
});

test('a line that apk does not understand is named with its file and number', async () => {
  await writeFile(join(device.root, CUSTOM), '# fine\nsrc/gz x y\n');
  expect((await feedsOf(daemon)).problems).toMatchObject([
    { file: join(device.root, CUSTOM), line: 2, text: 'src/gz x y' },
  ]);
});

describe.skipIf(process.env.APK === undefined || process.env.APK_FULL === undefined)(
  'with the real apk and an index as OpenWrt has them',
  () => {
    test('a feed whose key is missing names it, and one that brings it is added', async () => {
      const maker = process.env.APK_FULL ?? '';
      const other = await createApkDevice({ maker });
      try {
        const key = (await other.read('etc/apk/keys/lab.pem')) ?? '';
        const foreign = `${other.feed.url}/packages.adb`;

        const refused = await change(daemon, 'add_feed', { name: 'mine', url: other.feed.url });
        expect(refused).toMatchObject({ state: 'failed', error_code: 'signature' });
        const [, id = ''] = /the key ([0-9a-f]{32}),/.exec(refused.error ?? '') ?? [];

        const params = { name: 'mine', url: other.feed.url, key };
        expect((await change(daemon, 'add_feed', params)).error).toBeUndefined();
        expect(await feedOf(daemon, 'mine')).toMatchObject({ url: foreign, key: id });
        expect((await feedsOf(daemon)).keys.map((each) => each.id)).toContain(id);
        expect(await device.apk('update')).toMatchObject({ code: 0, stderr: '' });
      } finally {
        await other.close();
      }
    });
  },
);
