import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';

import { openStore, type Store } from './open-store.ts';

const STATUS_FILE = 'usr/lib/opkg/status';

let store: Store;
let statusAtFirst: string;

beforeAll(async () => {
  store = await openStore();
  statusAtFirst = (await store.device.read(STATUS_FILE)) ?? '';
});

afterAll(() => store.close());

/** Each test begins with the first version of the feed and no app installed. */
beforeEach(async () => {
  const names = Object.keys(await store.packages());
  if (names.length > 0) await store.device.opkg('remove', '--force-depends', ...names);
  // Of what it removed opkg keeps a record, with the version that it prefers from then on.
  await writeFile(join(store.device.root, STATUS_FILE), statusAtFirst);
});

/** Until the test is over the feed has the second version. */
function publishSecond(): void {
  store.device.publish(2);
  onTestFinished(async () => {
    store.device.publish(1);
    await store.device.opkg('update');
  });
}

const DEMO = { 'app-meta-demo': '1.0-1', 'demo-app': '1.0-1', libdemo: '1.0-1' };

test('install brings the app and what it needs, and the app is listed with all that its meta file says', async () => {
  const {
    state,
    exit_code: code,
    log,
    kind,
    command,
    package: name,
    start,
    stop = 0,
  } = await store.run('install', { package: 'demo' });

  expect({ state, code, kind, command, name }).toEqual({
    state: 'done',
    code: 0,
    kind: 'install',
    command: 'opkg install app-meta-demo',
    name: 'demo',
  });
  expect(stop).toBeGreaterThanOrEqual(start);
  expect(log).toContain('Configuring demo-app.');
  expect(await store.packages()).toEqual(DEMO);
  const item = {
    name: 'demo',
    title: 'Demo',
    entry: '/cgi-bin/luci/admin/services/demo',
    author: 'lab',
    website: 'https://example.invalid/demo',
    version: '1.0',
    release: 1,
    arch: ['x86_64'],
    description: 'demo for tests',
    autoconf: ['path', 'enable'],
    uci: 'demo-app',
    flags: ['entrysh'],
    tags: ['tool'],
    depends: ['demo-app'],
    time: (await store.device.database()).get('app-meta-demo')?.installedAt,
  };
  expect(await store.installed()).toEqual([item]);
  expect(await store.statusOf('demo')).toEqual({ ...item, installed: true });
});

test('the answer to install is a task result that names the task', async () => {
  const answer = await store.daemon.post('admin/store/install', { package: 'demo' });
  const body = (await answer.json()) as { task_id: string };

  expect([answer.status, body]).toEqual([
    200,
    { code: 0, stdout: '', stderr: '', task_id: expect.stringMatching(/^[0-9a-f]{32}$/) as string },
  ]);
  await store.daemon.finished(body.task_id);
});

test('a package that is no app can be installed, is not listed, and has a state', async () => {
  expect(await store.statusOf('virt')).toEqual({ installed: false });

  expect((await store.run('install', { package: 'virt' })).command).toBe('opkg install virt');

  expect(await store.installed()).toEqual([]);
  expect(await store.statusOf('virt')).toEqual({ name: 'virt', version: '1.0-1', installed: true });
});

test('remove takes the app and what came with it', async () => {
  await store.run('install', { package: 'demo' });

  expect(await store.run('remove', { package: 'demo' })).toMatchObject({
    state: 'done',
    exit_code: 0,
  });

  expect(await store.packages()).toEqual({});
  expect(await store.installed()).toEqual([]);
  expect(await store.statusOf('demo')).toEqual({ installed: false });
});

test('remove keeps a dependency that another app needs, until that goes, too', async () => {
  await store.run('install', { package: 'demo' });
  await store.run('install', { package: 'notes' });

  expect(await store.run('remove', { package: 'demo' })).toMatchObject({
    state: 'done',
    command: 'opkg remove app-meta-demo demo-app',
  });
  expect(Object.keys(await store.packages())).toEqual([
    'app-meta-notes',
    'libdemo',
    'libonce',
    'notes-app',
  ]);

  await store.run('remove', { package: 'notes' });
  expect(await store.packages()).toEqual({});
});

test('remove keeps what was installed by hand', async () => {
  await store.device.opkg('install', 'libdemo');
  await store.run('install', { package: 'demo' });

  await store.run('remove', { package: 'demo' });

  expect(await store.packages()).toEqual({ libdemo: '1.0-1' });
});

test('upgrade takes the app and the packages it names to what the feed offers, and they still go with it', async () => {
  await store.run('install', { package: 'demo' });
  publishSecond();
  await store.run('update');

  expect(await store.run('upgrade', { package: 'demo' })).toMatchObject({
    state: 'done',
    exit_code: 0,
  });

  expect(await store.packages()).toMatchObject({ 'app-meta-demo': '1.1-1', 'demo-app': '1.1-1' });
  expect(await store.statusOf('demo')).toMatchObject({ version: '1.1', installed: true });
  await store.run('remove', { package: 'demo' });
  expect(await store.packages()).toEqual({});
});

test('upgrade whose packages cannot be fetched fails, and the app stays as it was', async () => {
  await store.run('install', { package: 'demo' });
  publishSecond();
  await store.run('update');
  store.device.feed.misbehave('demo-app_1.1-1_all.ipk', 'missing');

  const { state, error, log } = await store.run('upgrade', { package: 'demo' });

  store.device.feed.behave();
  expect({ state, error }).toEqual({
    state: 'failed',
    error: expect.stringContaining('demo-app_1.1-1_all.ipk cannot be downloaded') as string,
  });
  expect(log).toContain('Failed to download');
  expect(await store.packages()).toMatchObject({ 'demo-app': '1.0-1' });
  expect(await store.statusOf('demo')).toMatchObject({ installed: true });
});

test('update fetches the lists', async () => {
  publishSecond();

  expect(await store.run('update')).toMatchObject({ state: 'done', command: 'opkg update' });

  expect((await store.device.opkg('list', 'demo-app')).stdout).toContain('demo-app - 1.1-1');
});

const AUTOCONF: [string, Record<string, string>, string[]][] = [
  ['nothing more', {}, []],
  [
    'a path',
    { path: '/mnt/sda1' },
    [
      'ISTORE_CONF_DIR=/mnt/sda1/Configs',
      'ISTORE_CACHE_DIR=/mnt/sda1/Caches',
      'ISTORE_PUBLIC_DIR=/mnt/sda1/Public',
      'ISTORE_DL_DIR=/mnt/sda1/Public/Downloads',
    ],
  ],
  [
    'the root as path',
    { path: '/' },
    [
      'ISTORE_CONF_DIR=/Configs',
      'ISTORE_CACHE_DIR=/Caches',
      'ISTORE_PUBLIC_DIR=/Public',
      'ISTORE_DL_DIR=/Public/Downloads',
    ],
  ],
  ['enable=0', { enable: '0' }, ['ISTORE_DONT_START=1']],
  ['enable=1', { enable: '1' }, []],
];

test.each(AUTOCONF)(
  'autoconf with %s tells the script as the contract says, and so does install',
  async (_, params, printed) => {
    const expected = ['autoconf demo args=[]', ...printed].join('\n');

    expect(
      (await store.run('install', { package: 'demo', autoconf: '1', ...params })).log.replaceAll(
        '\r\n',
        '\n',
      ),
    ).toContain(`\n${expected}\n`);
    expect(
      (await store.run('autoconf', { package: 'demo', ...params })).log
        .replaceAll('\r\n', '\n')
        .trim(),
    ).toBe(expected);
  },
);

test('autoconf of an app without a script fails and says so', async () => {
  await store.run('install', { package: 'notes' });

  expect(await store.run('autoconf', { package: 'notes' })).toMatchObject({
    state: 'failed',
    error: 'cannot configure notes: it has no configuration script',
  });
});
