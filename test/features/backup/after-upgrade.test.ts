import { execFile } from 'node:child_process';
import {
  access,
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { createDevice, type Device } from '../../device/device.ts';
import { startBackupDaemon, writeConfiguration, type BackupDaemon } from './backup-device.ts';

const run = promisify(execFile);
const SCRIPT = 'etc/rc.d/S95depotd-restore';
const FOLDER = 'etc/depotd/after-upgrade';

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
    await writeFile(
      join(device.root, 'etc/opkg/customfeeds.conf'),
      'src/gz mine http://127.0.0.1:1/mine\n',
    );
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
    await switchOn();
    const id = ((await device.read(`${FOLDER}/set`)) ?? '').trim();
    const file = join(device.root, `etc/depotd/backups/${id}.tar.gz`);
    const before = await readFile(file);

    await daemon.run('update');
    await daemon.restart();

    expect((await readFile(file)).equals(before)).toBe(true);
  }, 60_000);
});

/** Another firmware: what sysupgrade keeps is there, and nothing else of what was. */
interface Upgraded {
  readonly root: string;
  readonly read: (path: string) => Promise<string | undefined>;
  /** Runs the script as a boot does, until it has ended. */
  readonly boot: () => Promise<void>;
  readonly calls: () => Promise<string>;
}

const STANDIN = `#!/bin/sh
echo "$(basename "$0") $*" >>"$LOG"
`;

/** Its `sleep` moves the clock: the network is there after so many of them. */
async function upgrade(manager: 'opkg' | 'apk', sleeps: number): Promise<Upgraded> {
  const root = await mkdtemp(join(tmpdir(), 'depotd-upgraded-'));
  const [log, bin] = [join(root, 'calls'), join(root, 'bin-of-test')];
  const put = async (path: string, text: string): Promise<void> => {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text, { mode: text.startsWith('#!') ? 0o755 : 0o644 });
  };
  await run('cp', ['-a', join(device.root, 'etc/depotd'), join(root, 'etc-depotd')]);
  await mkdir(join(root, 'etc/rc.d'), { recursive: true });
  await run('mv', [join(root, 'etc-depotd'), join(root, 'etc/depotd')]);
  await run('cp', ['-a', join(device.root, SCRIPT), join(root, SCRIPT)]);
  for (const folder of ['tmp', 'mnt', 'media', 'lib/upgrade/keep.d', 'usr/sbin', 'etc/init.d']) {
    await mkdir(join(root, folder), { recursive: true });
  }
  await symlink('tmp', join(root, 'var'));
  await put('etc/openwrt_release', "DISTRIB_RELEASE='25.12.1'\n");
  await put('etc/banner', ' OpenWrt\n');
  await mkdir(join(root, 'www/luci-static/resources/view/status/include'), { recursive: true });
  if (manager === 'apk') {
    await put(
      'lib/apk/db/installed',
      'P:base-files\nV:1\np:/bin/sh virtual=1\n\nP:busybox\nV:1\n\n',
    );
    await put('etc/apk/world', 'base-files\nbusybox\ndemo><Q1abc\ngone\nvirtual\n!bad\n');
    await put('rom/etc/apk/world', 'base-files\nbusybox\nnew-one\n');
  } else {
    await put('etc/opkg/customfeeds.conf', '# yours\n');
  }
  // It installs depotd once as many sleeps have gone by.
  const installed = `mkdir -p "$DEPOTD_ROOT/usr/sbin"
printf '#!/bin/sh\\n' >"$DEPOTD_ROOT/usr/sbin/depotd"; chmod 755 "$DEPOTD_ROOT/usr/sbin/depotd"
printf '#!/bin/sh\\necho "init $*" >>"$LOG"\\n' >"$DEPOTD_ROOT/etc/init.d/depotd"; chmod 755 "$DEPOTD_ROOT/etc/init.d/depotd"`;
  const program = `${STANDIN}[ "$(grep -c '^sleep' "$LOG")" -ge ${sleeps} ] || exit 4
case "$*" in *install*depotd*|*add*depotd*) ${installed} ;; esac
`;
  await put(`bin-of-test/${manager}`, program);
  await put('bin-of-test/sleep', STANDIN);
  await put('bin-of-test/logger', STANDIN);
  const environment = { PATH: `${bin}:${process.env['PATH'] ?? ''}`, DEPOTD_ROOT: root, LOG: log };
  await writeFile(log, '');
  return {
    root,
    read: (path) => readFile(join(root, path), 'utf8').catch(() => undefined),
    boot: async () => {
      await run('sh', [join(root, SCRIPT), 'run'], { env: environment });
    },
    calls: () => readFile(log, 'utf8'),
  };
}

describe('after a firmware upgrade the script', () => {
  const upgraded: Upgraded[] = [];
  afterEach(async () => {
    for (const { root } of upgraded.splice(0)) await rm(root, { recursive: true, force: true });
  });
  const upgradeTo = async (manager: 'opkg' | 'apk', sleeps: number): Promise<Upgraded> => {
    const box = await upgrade(manager, sleeps);
    upgraded.push(box);
    return box;
  };

  test('waits an hour for the network, brings depotd and hands over to it', async () => {
    await writeFile(
      join(device.root, 'etc/opkg/customfeeds.conf'),
      'src/gz mine http://127.0.0.1:1/mine\n',
    );
    await daemon.run('update');
    await daemon.run('install', { package: 'demo' });
    await switchOn();
    const id = ((await device.read(`${FOLDER}/set`)) ?? '').trim();
    const box = await upgradeTo('opkg', 120);

    await box.boot();

    const calls = await box.calls();
    expect(calls.match(/^sleep 30$/gm)).toHaveLength(120);
    // Once: nothing is written over and over.
    expect(calls.match(/^logger .*waiting for the network/gm)).toHaveLength(1);
    expect(calls).toContain('depotd is back');
    expect(calls).toContain('init restart');
    expect(await box.read('etc/opkg/customfeeds.conf')).toContain('src/gz mine');
    expect(await box.read('etc/depotd/restore-due.json')).toBe(`{"backup":"${id}"}\n`);
    expect(await box.read('etc/banner')).toBe(' OpenWrt\n');
    expect(await box.read(`${FOLDER}/due`)).toBeUndefined();

    // The next boot has nothing to do.
    await writeFile(join(box.root, 'calls'), '');
    await box.boot();
    expect(await box.calls()).toBe('');
  }, 120_000);

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
    await box.boot();
    expect(await box.calls()).not.toContain('packages/');

    await rm(join(box.root, 'usr/sbin/depotd'));
    await writeFile(join(box.root, 'calls'), '');
    await writeFile(join(disk, `depotd-backup-${backup}.tar.gz`), set);
    await box.boot();
    expect(await box.calls()).toMatch(/^opkg .*install .*packages\/demo-app_.*\.ipk/m);
  }, 90_000);
});
