import { execFileSync } from 'node:child_process';
import { lstat, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterEach, describe, expect, test } from 'vitest';

import { createApkDevice } from '../../device/apk-device/apk-device.ts';
import { createDevice, type Device } from '../../device/device.ts';
import {
  startBackupDaemon,
  textOf,
  writeConfiguration,
  type BackupDaemon,
} from './backup-device.ts';

const open: { close: () => Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

async function opkgDevice(
  options: Parameters<typeof createDevice>[0] = {},
  set: readonly string[] = [],
): Promise<{ device: Device; daemon: BackupDaemon }> {
  const device = await createDevice(options);
  open.push(device);
  const daemon = await startBackupDaemon(device, set);
  open.push(daemon);
  return { device, daemon };
}

const LEFT = expect.stringMatching(/restore/) as unknown;

const OWN = [
  { name: 'libubox20230523', version: '2023-1', architecture: 'all' },
  { name: 'luci-app-opkg', version: '24.1', architecture: 'all' },
  { name: 'gone-tool', version: '1.0-1', architecture: 'all' },
];

const sets = new Map<string | undefined, Promise<Buffer>>();

/** A set of a device with an app, packages of its own, a hold and configuration: made once. */
function madeSet(options: { with_packages?: string } = {}): Promise<Buffer> {
  const set = sets.get(options.with_packages) ?? makeSet(options);
  sets.set(options.with_packages, set);
  return set;
}

async function makeSet(options: { with_packages?: string }): Promise<Buffer> {
  const { device, daemon } = await opkgDevice({ packages: OWN });
  await writeConfiguration(device.root);
  await daemon.run('update');
  for (const name of ['demo', ...OWN.map((each) => each.name)]) {
    expect((await daemon.run('install', { package: name })).state).toBe('done');
  }
  await daemon.post('admin/store/hold', { package: 'demo-app' });
  await writeFile(join(device.root, 'etc/config/demo-app'), 'config demo\n\toption mine 1\n');
  const { backup = '' } = await daemon.run('backup', { ...options, path: '/mnt' });
  return daemon.download(backup);
}

interface RestorePlan {
  is_possible: boolean;
  installs: { name: string }[];
  report: { package: string; state: string }[];
  files: string[];
}

async function planOf(daemon: BackupDaemon, id: string): Promise<RestorePlan> {
  const answer = await daemon.get(`admin/store/plan?operation=restore&backup=${id}`);
  return (await answer.json()) as RestorePlan;
}

describe('a restore on a device that was wiped', () => {
  test('brings packages, configuration and marks back, and names what is not offered', async () => {
    const set = await madeSet();
    const { device, daemon } = await opkgDevice({ packages: OWN.slice(0, 2) });
    await daemon.run('update');
    const { body } = await daemon.add(set);

    const plan = await planOf(daemon, body.id ?? '');
    expect(plan.is_possible).toBe(true);
    expect(plan.installs.map(({ name }) => name)).toContain('demo-app');
    expect(plan.files).toContain('/etc/config/network');
    expect(await device.read('etc/config/network')).toBeUndefined();

    const { state, report, log } = await daemon.run('restore', { backup: body.id ?? '' });

    expect({ state, log: state === 'done' ? '' : log }).toEqual({ state: 'done', log: '' });
    expect(report).toEqual([
      { package: 'app-meta-demo', state: 'back' },
      { package: 'gone-tool', state: 'not_offered', message: expect.any(String) as string },
      { package: 'libubox20230523', state: 'back' },
      { package: 'luci-app-opkg', state: 'back' },
    ]);
    expect(report).toMatchObject(plan.report);
    expect(await device.read('etc/config/network')).toContain('192.168.7.1');
    expect(await device.read('etc/config/demo-app')).toContain('option mine 1');
    expect([...(await device.database()).keys()]).toContain('libdemo');
    expect(await readdir(join(device.root, 'tmp/depotd'))).not.toContainEqual(LEFT);
  }, 90_000);

  test('needs no feed if the set has the package files', async () => {
    const set = await madeSet({ with_packages: '1' });
    const { device, daemon } = await opkgDevice({ hasUsual: false });
    const { body } = await daemon.add(set);
    await device.feed.refuse();

    const { state, report, log } = await daemon.run('restore', { backup: body.id ?? '' });

    expect({ state, log: state === 'done' ? '' : log }).toEqual({ state: 'done', log: '' });
    expect(report?.map(({ state: each }) => each)).toEqual(['back', 'back', 'back', 'back']);
    await device.feed.listen();
  }, 90_000);

  test('leaves what its owner asked for asked for, though an app needs it, too', async () => {
    const former = await opkgDevice();
    await former.daemon.run('update');
    for (const name of ['demo', 'libdemo']) await former.daemon.run('install', { package: name });
    const { backup = '' } = await former.daemon.run('backup');
    const { device, daemon } = await opkgDevice();
    await daemon.run('update');
    const { body } = await daemon.add(await former.daemon.download(backup));

    expect((await daemon.run('restore', { backup: body.id ?? '' })).state).toBe('done');
    expect((await daemon.run('remove', { package: 'demo' })).state).toBe('done');

    expect([...(await device.database()).keys()]).toContain('libdemo');
  });

  test('leaves host name, addresses and keys alone if it is set up like another one', async () => {
    const set = await madeSet();
    const { device, daemon } = await opkgDevice();
    await writeFile(
      join(device.root, 'etc/config/system'),
      "config system\n\toption hostname 'cellar'\n",
    );
    await daemon.run('update');
    const { body } = await daemon.add(set);

    await daemon.run('restore', { backup: body.id ?? '', as: 'new' });

    const system = (await device.read('etc/config/system')) ?? '';
    expect(system).toContain("option hostname 'cellar'");
    expect(system).toContain("option zonename 'UTC'");
    expect(await device.read('etc/config/network')).toBeUndefined();
    expect(await device.read('root/scripts/daily')).toContain('daily');
  }, 90_000);

  test('never writes through a link', async () => {
    const set = await madeSet();
    const { device, daemon } = await opkgDevice();
    const outside = join(device.root, 'mnt/outside');
    await mkdir(outside);
    await symlink(outside, join(device.root, 'root/scripts'));
    await writeFile(join(outside, 'passwd'), 'theirs');
    await rm(join(device.root, 'etc/passwd'), { force: true });
    await symlink(join(outside, 'passwd'), join(device.root, 'etc/passwd'));
    const { body } = await daemon.add(set);

    const { log } = await daemon.run('restore', { backup: body.id ?? '' });

    expect(log).toContain('/root/scripts/daily is left as it is');
    expect(await readdir(outside)).toEqual(['passwd']);
    expect(await readFile(join(outside, 'passwd'), 'utf8')).toBe('theirs');
    expect((await lstat(join(device.root, 'etc/passwd'))).isFile()).toBe(true);
  }, 90_000);

  test.each([
    ['the set is unpacked', 'tmp/depotd', /^\.restore-/],
    ['the settings come back', 'etc/config', /^network$/],
    ['packages are fetched', 'usr/bin', /^demo-app$/],
    ['packages are on record', 'usr/lib/opkg/info', /^demo-app\.list$/],
  ])(
    'goes on after kill -9 when %s',
    async (_, folder, name) => {
      const set = await madeSet();
      const { device, daemon } = await opkgDevice({ packages: OWN });
      await daemon.run('update');
      const { body } = await daemon.add(set);
      const id = await daemon.submit('restore', { backup: body.id ?? '' });
      await expect
        .poll(
          async () => (await readdir(join(device.root, folder))).some((each) => name.test(each)),
          { timeout: 30_000, interval: 5 },
        )
        .toBe(true);
      await daemon.kill('SIGKILL');
      await daemon.restart();

      const { state, error } = await daemon.finished(id);

      expect({ state, error }).toEqual({ state: 'done', error: undefined });
      expect([...(await device.database()).keys()]).toEqual(
        expect.arrayContaining(['app-meta-demo', 'demo-app', 'gone-tool']) as unknown,
      );
      expect(await textOf(device.root, 'etc/config/network')).toContain('192.168.7.1');
      expect(await readdir(join(device.root, 'tmp/depotd'))).not.toContainEqual(LEFT);
    },
    90_000,
  );
});

test('as=new leaves a box the id that it has, wherever depotd keeps that', async () => {
  const set = ['main.state_dir=/srv/depotd'];
  const uidOf = async (box: BackupDaemon): Promise<unknown> =>
    ((await (await box.get('admin/store/uid')).json()) as { uid: unknown }).uid;
  const [{ daemon: one }, { daemon: two }] = [await opkgDevice({}, set), await opkgDevice({}, set)];
  await uidOf(one);
  const { backup = '' } = await one.run('backup');
  const uid = await uidOf(two);
  await two.run('update');
  const { body } = await two.add(await one.download(backup));

  await two.run('restore', { backup: body.id ?? '', as: 'new' });

  await two.restart();
  expect(await uidOf(two)).toBe(uid);
});

const isRoot = process.getuid?.() === 0;
test.skipIf(!isRoot)('a restore brings back what lies on a disk that is read-only', async () => {
  const { device, daemon } = await opkgDevice();
  await writeConfiguration(device.root);
  const stick = join(device.root, 'mnt/stick');
  await mkdir(stick);
  const { backup = '' } = await daemon.run('backup', { path: '/mnt/stick' });
  await rm(join(device.root, 'root/scripts/daily'));
  await daemon.run('update');
  execFileSync('mount', ['--bind', stick, stick]);
  try {
    execFileSync('mount', ['-o', 'remount,bind,ro', stick]);

    expect(await daemon.run('restore', { backup })).toMatchObject({ state: 'done' });
  } finally {
    execFileSync('umount', ['-l', stick]);
  }
  expect(await device.read('root/scripts/daily')).toContain('daily');
});

describe('a restore from opkg on apk', () => {
  test('finds each package by its name there, or names it', async () => {
    const set = await madeSet();
    const device = await createApkDevice({
      packages: [
        { name: 'libubox20240329', version: '2024-r1', files: {} },
        { name: 'luci-app-package-manager', version: '25.1', files: {} },
      ],
    });
    open.push(device);
    const daemon = await startBackupDaemon(device);
    open.push(daemon);
    await daemon.run('update');
    const { body } = await daemon.add(set);

    const { state, report, log } = await daemon.run('restore', { backup: body.id ?? '' });

    expect({ state, log: state === 'done' ? '' : log }).toEqual({ state: 'done', log: '' });
    expect(report).toEqual([
      { package: 'app-meta-demo', state: 'back' },
      { package: 'gone-tool', state: 'not_offered', message: expect.any(String) as string },
      { package: 'libubox20230523', state: 'renamed', as: 'libubox20240329' },
      { package: 'luci-app-opkg', state: 'renamed', as: 'luci-app-package-manager' },
    ]);
    expect([...(await device.database()).keys()]).toContain('libubox20240329');
    expect(await device.read('etc/opkg/customfeeds.conf')).toBeUndefined();
  }, 90_000);
});
