import {
  chmod,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { voiceOf } from '../../../src/languages/languages.ts';
import type { TestDaemon } from '../../device/daemon.ts';
import type { Device } from '../../device/device.ts';
import type { Feed } from '../../device/feed.ts';
import { aroundTests } from '../../support/around-tests.ts';
import { change, expectNothingLeft, feedOf, feedsOf, findingOf } from './feed-answer.ts';
import { CUSTOM, startFeedDaemon } from './feed-daemon.ts';

let device: Device;
let daemon: TestDaemon;
let feed: Feed;

let close: () => Promise<void>;

const nothingChanged = aroundTests(
  async () => {
    ({ device, daemon, feed, close } = await startFeedDaemon());
  },
  () => close(),
);

describe('a feed that is added', () => {
  test('is fetched, its packages can be installed, and opkg itself takes the file', async () => {
    expect(await change(daemon, 'add_feed', { name: 'mine', url: `${feed.url}/` })).toMatchObject({
      state: 'done',
      command: 'add the feed mine',
    });
    expect(await device.read(CUSTOM)).toBe(
      `# add your custom package feeds here\nsrc/gz mine ${feed.url}\n`,
    );
    expect(await feedOf(daemon, 'mine')).toMatchObject({
      url: feed.url,
      kind: 'custom',
      enabled: true,
      packages: 1,
    });
    expect((await device.opkg('update')).code).toBe(0);
    expect((await device.opkg('install', 'extra-tool')).code).toBe(0);
    // What the task replaced, so that it can be undone, and nothing of what it fetched.
    expect(await readdir(join(device.root, 'tmp/depotd'), { recursive: true })).toEqual(
      expect.arrayContaining(['undo', expect.stringMatching(/^undo\/[0-9a-f]{32}$/)]),
    );
    expect(await readdir(join(device.root, 'tmp/depotd'))).toEqual(['undo']);
  });

  test('without a signature has none on the device, if opkg does not check', async () => {
    feed.misbehave('Packages.sig', 'missing');

    const { state } = await change(daemon, 'add_feed', { name: 'mine', url: feed.url });

    expect(state).toBe('done');
    expect(await readdir(join(device.root, 'tmp/opkg-lists'))).toEqual(['mine']);
  });

  test.each([
    ['missing', 'download_failed', 'the server does not have it'],
    ['html', 'damaged_package', 'what it sent is not a package list'],
    ['truncated', 'damaged_package', 'damaged'],
    ['changed', 'damaged_package', 'damaged'],
    ['closed', 'download_failed', ''],
  ] as const)('whose list is %s changes nothing', async (fault, code, reason) => {
    feed.misbehave('Packages.gz', fault);
    const before = await device.read(CUSTOM);

    const task = await change(daemon, 'add_feed', { name: 'mine', url: feed.url });

    expect(task).toMatchObject({ state: 'failed', error_code: code });
    expect(task.error).toContain(`cannot use the feed mine (${feed.url}`);
    expect(task.error).toContain(reason);
    expect(await device.read(CUSTOM)).toBe(before);
    expect(await readdir(join(device.root, 'tmp/opkg-lists'))).toEqual([]);
    await expectNothingLeft(device);
    feed.behave();
    nothingChanged();
  });

  test.each([
    ['file:///etc', 'mine'],
    ['ftp://a/b', 'mine'],
    ['http://user:word@a/b', 'mine'],
    ['http://a/b c', 'mine'],
    ['http://a/b\nsrc/gz evil http://b', 'mine'],
    ['http://a/b#c', 'mine'],
    ['http://a/b?c', 'mine'],
    ["http://a/'b", 'mine'],
    ['http://a/$(b)', 'mine'],
    ['http://a:99999/b', 'mine'],
    [`http://a/${'b'.repeat(600)}`, 'mine'],
    ['http://a/b', '../etc'],
    ['http://a/b', '-o'],
    ['http://a/b', 'a b'],
    ['http://a/b', 'mine.sig'],
    ['http://a/b', ''],
  ])('is refused with the address %j and the name %j', async (url, name) => {
    const before = await device.read(CUSTOM);
    expect((await daemon.post('admin/store/add_feed', { name, url })).status).toBe(400);
    expect(await device.read(CUSTOM)).toBe(before);
    nothingChanged();
  });

  test('is refused if its address is there under another name', async () => {
    const answer = await daemon.post('admin/store/add_feed', {
      name: 'again',
      url: `${device.feed.url}/Packages.gz`,
    });
    expect(answer.status).toBe(409);
    expect(await answer.text()).toContain('is there already (lab, ');
    nothingChanged();
  });

  test('is refused if its name is there already', async () => {
    const answer = await daemon.post('admin/store/add_feed', { name: 'lab', url: 'http://a/b' });
    expect(answer.status).toBe(409);
    nothingChanged();
  });

  test('leaves what its owner wrote, the mode and the link of root that leads there', async () => {
    const file = join(device.root, CUSTOM);
    const own = '# mine é\noption x y\n  src/gz other http://127.0.0.1:9/x\n# end';
    await rename(file, join(device.root, 'etc/feeds-elsewhere'));
    await writeFile(join(device.root, 'etc/feeds-elsewhere'), Buffer.from(`${own}\xff`, 'latin1'));
    await chmod(join(device.root, 'etc/feeds-elsewhere'), 0o600);
    await symlink('../feeds-elsewhere', file);

    await change(daemon, 'add_feed', { name: 'mine', url: feed.url });

    expect((await lstat(file)).isSymbolicLink()).toBe(true);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await readFile(file)).toString('latin1')).toBe(`${own}\xff\nsrc/gz mine ${feed.url}\n`);
  });

  test('changes nothing if something else than a file is in the place of the file', async () => {
    const file = join(device.root, CUSTOM);
    await rename(file, `${file}.old`);
    await mkdir(file);
    expect(await change(daemon, 'add_feed', { name: 'mine', url: feed.url })).toMatchObject({
      state: 'failed',
      error: expect.stringContaining('it is no file') as string,
    });
    expect(await readdir(join(device.root, 'tmp/opkg-lists'))).toEqual([]);
  });
});

describe('a feed that is there', () => {
  test('of the firmware is switched off and on, and cannot be removed', async () => {
    await device.opkg('update');
    const dist = join(device.root, 'etc/opkg/distfeeds.conf');
    const before = await readFile(dist, 'utf8');

    expect((await daemon.post('admin/store/remove_feed', { name: 'lab' })).status).toBe(409);
    expect((await change(daemon, 'set_feed', { name: 'lab', enabled: '0' })).state).toBe('done');
    expect(await readFile(dist, 'utf8')).toBe(`# ${before}`);
    expect(await feedOf(daemon, 'lab')).toEqual({
      name: 'lab',
      url: device.feed.url,
      kind: 'system',
      enabled: false,
    });
    expect((await change(daemon, 'set_feed', { name: 'lab', enabled: '1' })).state).toBe('done');
    expect(await readFile(dist, 'utf8')).toBe(before);
    expect((await feedOf(daemon, 'lab'))?.packages).toBeGreaterThan(10);
  });

  test('stays off if its list cannot be fetched', async () => {
    await change(daemon, 'set_feed', { name: 'lab', enabled: '0' });
    device.feed.misbehave('Packages.gz', 'missing');
    expect((await change(daemon, 'set_feed', { name: 'lab', enabled: '1' })).state).toBe('failed');
    expect((await feedOf(daemon, 'lab'))?.enabled).toBe(false);
  });

  test('of the owner is removed with its list', async () => {
    const before = await device.read(CUSTOM);
    await change(daemon, 'add_feed', { name: 'mine', url: feed.url });
    expect((await change(daemon, 'remove_feed', { name: 'mine' })).state).toBe('done');
    expect(await device.read(CUSTOM)).toBe(before);
    expect(await readdir(join(device.root, 'tmp/opkg-lists'))).toEqual([]);
    expect((await daemon.post('admin/store/remove_feed', { name: 'mine' })).status).toBe(404);
  });

  test('shows why the last update failed, and the doctor says so, in Chinese, too', async () => {
    await device.opkg('update');
    device.feed.misbehave('Packages.gz', 'html');
    await change(daemon, 'update', {});
    const advice = 'Log in to the network first: a web page came in place of the list.';
    expect(await feedOf(daemon, 'lab')).toMatchObject({
      error: 'what it sent is not a package list but a web page',
      remedy: advice,
    });
    const finding = await findingOf(daemon, 'feeds');
    expect(finding).toMatchObject({ state: 'warning', remedy: advice });
    expect(voiceOf('zh-CN').say((finding as { message: string }).message)).toBe(
      `上次更新时，lab (${device.feed.url})：收到的是网页，而不是软件包列表`,
    );
  });
});

test('a line that opkg does not understand is named with its file and number', async () => {
  await writeFile(join(device.root, CUSTOM), '# fine\nscr/gz oops http://a/b\nsrc/gz half\n');
  const file = join(device.root, CUSTOM);
  expect((await feedsOf(daemon)).problems).toMatchObject([
    { file, line: 2, text: 'scr/gz oops http://a/b', reason: 'opkg knows no "scr/gz"' },
    { file, line: 3, text: 'src/gz half', reason: 'it has no address' },
  ]);
  expect(await findingOf(daemon, 'feeds')).toMatchObject({
    state: 'error',
    message: expect.stringContaining(`${file}:2 (scr/gz oops http://a/b)`) as string,
  });
});
