import { access, chmod, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { runCommand } from '../../device/command.ts';
import { createDevice, type Device } from '../../device/device.ts';
import { SCRIPT, STANDIN, upgrade, type Upgraded } from './upgraded.ts';
import { startBackupDaemon, writeConfiguration, type BackupDaemon } from './backup-device.ts';

const FOLDER = 'etc/depotd/after-upgrade';
const FEEDS = 'etc/opkg/customfeeds.conf';

let device: Device;
let daemon: BackupDaemon;

beforeEach(async () => {
  device = await createDevice();
  await writeConfiguration(device.root);
  daemon = await startBackupDaemon(device);
});
afterEach(async () => {
  await daemon.close();
  await device.close();
});

/** The files of a folder below the root, by name. */
async function filesIn(path: string): Promise<string[]> {
  return (await readdir(join(device.root, path)).catch(() => [])).sort();
}

async function switchOn(): Promise<void> {
  const { status } = await daemon.post('admin/store/set_backup', { after_upgrade: '1' });
  expect(status).toBe(200);
  await expect.poll(() => device.read(SCRIPT), { timeout: 20_000 }).toBeDefined();
}

describe('the switch', () => {
  test('puts the script there with what it needs, and takes all of it away again', async () => {
    await writeFile(join(device.root, FEEDS), 'src/gz mine http://127.0.0.1:1/mine\n');
    await daemon.run('update');
    await daemon.run('install', { package: 'demo' });
    await switchOn();

    expect(await filesIn(FOLDER)).toEqual(
      expect.arrayContaining(['feeds', 'first', 'keep', 'manager', 'release', 'set']) as unknown,
    );
    expect(await device.read(`${FOLDER}/feeds`)).toBe('src/gz mine http://127.0.0.1:1/mine\n');
    const kept = (await device.read('lib/upgrade/keep.d/depotd-restore')) ?? '';
    expect(kept.split('\n')).toEqual(
      expect.arrayContaining([
        `/${SCRIPT}`,
        '/etc/depotd/',
        '/etc/opkg/customfeeds.conf',
      ]) as unknown,
    );
    expect(await daemon.backups()).toMatchObject([{ reason: 'firmware', packages: 1 }]);

    await daemon.run('remove', { package: 'demo' });
    await expect
      .poll(async () => (await daemon.backups()).find(({ reason }) => reason === 'firmware'))
      .toMatchObject({ packages: 0 });

    await daemon.post('admin/store/set_backup', { after_upgrade: '0' });
    await expect.poll(() => filesIn(FOLDER)).toEqual([]);
    expect(await device.read(SCRIPT)).toBeUndefined();
  }, 60_000);

  test('writes nothing that is as it should be', async () => {
    await daemon.run('update');
    await daemon.run('install', { package: 'demo' });
    for (const name of ['demo', 'libdemo']) {
      expect((await daemon.post('admin/store/hold', { package: name })).status).toBe(200);
    }
    await switchOn();
    const id = ((await device.read(`${FOLDER}/set`)) ?? '').trim();
    const file = join(device.root, `etc/depotd/backups/${id}.tar.gz`);
    const before = await readFile(file);

    // The same in another order.
    const record = (await device.read('usr/lib/opkg/status')) ?? '';
    const turned = record.trimEnd().split('\n\n').reverse().join('\n\n');
    await writeFile(join(device.root, 'usr/lib/opkg/status'), `${turned}\n\n`);
    await daemon.run('update');
    // Answered behind the look at the set that the end of a task begins: a daemon that is stopped
    // in the middle of it shares its process with the next, and goes on without its descriptors.
    await switchOn();
    await daemon.restart();

    expect((await readFile(file)).equals(before)).toBe(true);
  }, 60_000);
});

const upgraded: Upgraded[] = [];
afterEach(async () => {
  for (const { root } of upgraded.splice(0)) await rm(root, { recursive: true, force: true });
});

async function upgradeTo(manager: 'opkg' | 'apk', sleeps: number): Promise<Upgraded> {
  const box = await upgrade(device, manager, sleeps);
  upgraded.push(box);
  return box;
}

describe('after a firmware upgrade the script', () => {
  test('waits an hour for the network, brings depotd and hands over to it', async () => {
    await writeFile(join(device.root, FEEDS), 'src/gz mine http://127.0.0.1:1/mine\n');
    await daemon.run('update');
    await daemon.run('install', { package: 'demo' });
    await switchOn();
    const id = ((await device.read(`${FOLDER}/set`)) ?? '').trim();
    const box = await upgradeTo('opkg', 120);
    await writeFile(join(box.root, FOLDER, 'first'), 'before-depotd\ndepotd\n');

    await box.boot();

    const calls = await box.calls();
    expect(calls.match(/^sleep 30$/gm)).toHaveLength(120);
    // Once: nothing is written over and over.
    expect(calls.match(/^logger .*waiting for the network/gm)).toHaveLength(1);
    expect(calls).toContain('depotd is back');
    expect(calls).toContain('init restart');
    expect(await box.read(FEEDS)).toContain('src/gz mine');
    expect(await box.read('etc/depotd/restore-due.json')).toBe(`{"backup":"${id}"}\n`);
    expect(await box.read('etc/banner')).toBe(' OpenWrt\n');
    expect(await box.read(`${FOLDER}/due`)).toBeUndefined();

    // The next boot has nothing to do.
    await writeFile(join(box.root, 'calls'), '');
    await box.boot();
    expect(await box.calls()).toBe('');
  }, 120_000);

  test('adds feeds below a last line that the owner left without a line break', async () => {
    await writeFile(join(device.root, FEEDS), 'src/gz mine http://m/mine\n');
    await switchOn();
    const box = await upgradeTo('opkg', 0);
    await writeFile(join(box.root, FEEDS), 'src/gz kept http://m/kept');

    await box.boot();

    expect(await box.read(FEEDS)).toBe('src/gz kept http://m/kept\nsrc/gz mine http://m/mine\n');
  }, 60_000);

  test('goes on after a reboot, and says meanwhile in the banner and in LuCI what it waits for', async () => {
    await switchOn();
    const box = await upgradeTo('opkg', 3);
    const sleep = join(box.root, 'bin-of-test/sleep');
    const text = await readFile(sleep, 'utf8');
    await writeFile(sleep, `${text}kill -9 "$PPID"\n`);
    await box.boot().catch(() => undefined);

    expect(await box.read('etc/banner')).toContain('waiting for the network');
    const status = await box.read(
      'www/luci-static/resources/view/status/include/05_depotd_restore.js',
    );
    expect(status).toContain('waiting for the network');
    expect(status).toContain('正在等待网络');
    await access(join(box.root, FOLDER, 'due'));

    // What the boot empties.
    await rm(join(box.root, 'tmp'), { recursive: true });
    await mkdir(join(box.root, 'tmp'));
    await writeFile(sleep, text);
    await chmod(sleep, 0o755);
    await box.boot();

    expect(await box.calls()).toContain('init restart');
  }, 60_000);

  test('on apk takes out of world what this firmware does not have, and no package of its own', async () => {
    await switchOn();
    const box = await upgradeTo('apk', 0);

    await box.boot();

    const world = ((await box.read('etc/apk/world')) ?? '').trim().split('\n').sort();
    expect(world).toEqual(['!bad', 'base-files', 'busybox', 'new-one', 'virtual']);
    expect(await box.calls()).toContain('init restart');
  }, 60_000);

  test('takes packages from a disk that depotd wrote, and from no other', async () => {
    await daemon.run('update');
    await daemon.run('install', { package: 'demo' });
    await switchOn();
    const { backup = '' } = await daemon.run('backup', { with_packages: '1', path: '/mnt' });
    const box = await upgradeTo('opkg', 2);
    const disk = join(box.root, 'mnt/sda1');
    await mkdir(disk);
    const own = join(device.root, `mnt/depotd-backup-${backup}.tar.gz`);
    const set = await readFile(own);
    const foreign = Buffer.from(set);
    foreign.writeUInt8(set.readUInt8(200) ^ 1, 200);
    await writeFile(join(disk, `depotd-backup-${'0'.repeat(32)}.tar.gz`), foreign);
    // A container that had the disk may have left anything under such a name.
    await runCommand(['mkfifo', join(disk, 'depotd-backup-fifo.tar.gz')]);
    await symlink('/dev/zero', join(disk, 'depotd-backup-zero.tar.gz'));
    await box.boot();
    expect(await box.calls()).not.toContain('packages/');

    await rm(join(box.root, 'usr/sbin/depotd'));
    await writeFile(join(box.root, 'calls'), '');
    await writeFile(join(disk, `depotd-backup-${backup}.tar.gz`), set);
    await box.boot();
    expect(await box.calls()).toMatch(/^opkg .*install .*packages\/demo-app_.*\.ipk/m);
  }, 90_000);
});

describe('whenever the power goes, the script', () => {
  test('installs anew what was on record and not on the disk as the power went', async () => {
    await switchOn();
    const box = await upgradeTo('opkg', 0);
    const at = (path: string): string => join(box.root, path);
    await mkdir(at('usr/lib/opkg'), { recursive: true });
    await writeFile(at('usr/lib/opkg/status'), 'Package: libc\n\n');
    // Its record lasts; of the files only the names do.
    const entry = `printf 'Package: depotd\\n\\n' >>"$DEPOTD_ROOT/usr/lib/opkg/status"`;
    const cut = `[ -e "$LOG.cut" ] || { : >"$LOG.cut"; kill -9 "$PPID"; }`;
    const opkg = (await box.read('bin-of-test/opkg')) ?? '';
    await writeFile(at('bin-of-test/opkg'), opkg.replace(';; esac', `\n${entry}\n${cut} ;; esac`));
    await box.boot().catch(() => undefined);
    await writeFile(at('usr/sbin/depotd'), '');
    const copy = 'etc/depotd/apk/before/installed';
    await mkdir(dirname(at(copy)), { recursive: true });
    await writeFile(at(copy), 'of the record that is gone');
    await rm(at('tmp'), { recursive: true });
    await mkdir(at('tmp'));

    await box.boot();

    expect(await box.read('usr/sbin/depotd')).not.toBe('');
    expect(await box.read('usr/lib/opkg/status')).toBe('Package: libc\n\nPackage: depotd\n\n');
    expect(await box.calls()).toContain('init restart');
    expect(await box.read('usr/lib/opkg/status.depotd')).toBeUndefined();
    expect(await box.read(copy)).toBeUndefined();
  }, 60_000);

  test('has its words in the greeting on the disk before they count', async () => {
    await switchOn();
    const box = await upgradeTo('opkg', 1);
    const at = (path: string): string => join(box.root, path);
    await writeFile(at('bin-of-test/sleep'), `${STANDIN}kill -9 "$PPID"\n`);
    const sync = '#!/bin/sh\ncat "$DEPOTD_ROOT"/etc/banner* >>"$LOG.disk"\n';
    await writeFile(at('bin-of-test/sync'), sync, { mode: 0o755 });

    await box.boot().catch(() => undefined);

    const banner = (await box.read('etc/banner')) ?? '';
    expect(banner).toContain('waiting for the network');
    expect(await box.read('calls.disk')).toContain(banner);
  }, 60_000);

  test('leaves its set as it is until all of it is back', async () => {
    await daemon.run('update');
    await daemon.run('install', { package: 'demo' });
    await switchOn();
    const set = ((await device.read(`${FOLDER}/set`)) ?? '').trim();
    const standing = async (): Promise<number | undefined> =>
      (await daemon.backups()).find(({ id }) => id === set)?.packages;
    await daemon.close();
    // As often as a restore is tried.
    const due = join(device.root, 'etc/depotd/restore-due.json');
    await writeFile(due, JSON.stringify({ backup: set, tries: 5 }));
    await device.opkg('remove', '--autoremove', 'app-meta-demo');
    await daemon.restart();
    await daemon.run('update');
    await daemon.restart();

    expect(await standing()).toBe(1);
    expect(await daemon.run('restore', { backup: set })).toMatchObject({ state: 'done' });
    expect((await device.database()).get('demo-app')?.state).toBe('installed');

    await daemon.run('remove', { package: 'demo' });
    await expect.poll(standing).toBe(0);
  }, 90_000);

  test('has a set that goes with what is installed once a backup that waits to come back is removed', async () => {
    await daemon.run('update');
    await daemon.run('install', { package: 'demo' });
    const { backup = '' } = await daemon.run('backup');
    await daemon.run('remove', { package: 'demo' });
    await switchOn();
    const set = ((await device.read(`${FOLDER}/set`)) ?? '').trim();
    await rm(join(device.root, 'tmp/opkg-lists'), { recursive: true });
    await device.feed.refuse();
    expect(await daemon.run('restore', { backup })).toMatchObject({ error_code: 'no_lists' });

    await daemon.post('admin/store/remove_backup', { id: backup });
    await device.feed.listen();
    await daemon.run('update');
    await daemon.run('install', { package: 'demo' });

    const standing = async (): Promise<number | undefined> =>
      (await daemon.backups()).find(({ id }) => id === set)?.packages;
    await expect.poll(standing, { timeout: 5000 }).toBe(1);
  }, 90_000);
});
