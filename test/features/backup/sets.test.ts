import { createHash, randomBytes, randomInt } from 'node:crypto';
import { lstat, mkdir, readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';

import { describe, expect, test } from 'vitest';

import { createTar, type TarEntry } from '../../../packaging/tar.ts';
import { sealOf } from '../../../src/features/backup/seal.ts';
import { runCommand } from '../../device/command.ts';
import { createDevice, type Device } from '../../device/device.ts';
import { aroundTests } from '../../support/around-tests.ts';
import { asOfAnotherBoot } from '../../support/power-cut.ts';
import { startBackupDaemon, writeConfiguration, type BackupDaemon } from './backup-device.ts';

let device: Device;
let daemon: BackupDaemon;

const nothingChanged = aroundTests(
  async () => {
    device = await createDevice();
    await writeConfiguration(device.root);
    daemon = await startBackupDaemon(device);
  },
  async () => {
    await daemon.close();
    await device.close();
  },
);

interface Manifest {
  packages: { name: string; version: string; is_held?: boolean }[];
  files: { path: string }[];
  package_files: { name: string; file: string }[];
  [key: string]: unknown;
}

/** Opened with tar itself. */
async function unpack(
  set: Buffer,
): Promise<{ manifest: Manifest; folder: string; names: string[] }> {
  const folder = join(device.root, 'mnt/unpacked');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'set.tar.gz'), set);
  const { stdout } = await runCommand(['tar', '-xvzf', 'set.tar.gz'], {
    cwd: folder,
    env: process.env,
  });
  const text = await device.read('mnt/unpacked/manifest.json');
  return { manifest: JSON.parse(text ?? '') as Manifest, folder, names: stdout.trim().split('\n') };
}

describe('a backup', () => {
  test('has what the owner asked for and what sysupgrade would keep, and any tar opens it', async () => {
    await daemon.run('update');
    await daemon.run('install', { package: 'demo' });
    await daemon.post('admin/store/hold', { package: 'demo' });

    const { state, backup = '' } = await daemon.run('backup');

    expect(state).toBe('done');
    const { manifest, names } = await unpack(await daemon.download(backup));
    expect(names[0]).toBe('manifest.json');
    expect(manifest.packages.map(({ name }) => name)).toEqual(['app-meta-demo']);
    expect(manifest.packages[0]?.is_held).toBe(true);
    expect(manifest).toMatchObject({ format: 1, package_manager: 'opkg', package_files: [] });
    expect(manifest['warning']).toContain('passwords');
    const paths = manifest.files.map(({ path }) => path);
    expect(paths).toEqual(
      expect.arrayContaining([
        '/etc/config/network',
        '/etc/passwd',
        '/etc/rc.local',
        '/root/scripts/daily',
      ]) as unknown,
    );
    expect(paths.filter((path) => /other|jobs|opkg\/status/.test(path))).toEqual([]);
    expect(await device.read('mnt/unpacked/files/etc/config/network')).toContain('192.168.7.1');
    const file = join(device.root, 'etc/depotd/backups', `${backup}.tar.gz`);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  test('with packages has the very files of the feed, and none that was changed on its way', async () => {
    await daemon.run('update');
    await daemon.run('install', { package: 'demo' });
    device.feed.misbehave('libdemo_1.0-1_x86_64.ipk', 'changed');

    const { backup = '', log } = await daemon.run('backup', { with_packages: '1', path: '/mnt' });

    const { manifest } = await unpack(await daemon.download(backup));
    expect(manifest.package_files.map(({ name }) => name)).toContain('demo-app');
    expect(manifest.package_files.map(({ name }) => name)).not.toContain('libdemo');
    expect(log).toContain('libdemo');
    const left = await readdir(join(device.root, 'mnt'));
    expect(left.sort()).toEqual([`depotd-backup-${backup}.tar.gz`, 'depotd.conf', 'unpacked']);
    expect(await daemon.backups()).toMatchObject([{ id: backup, has_packages: true }]);
  });

  test('is made by itself before a removal and an upgrade of all, and ten are kept', async () => {
    await daemon.run('update');
    await daemon.run('install', { package: 'demo' });
    await daemon.run('upgrade', { all: '1' });
    await daemon.run('remove', { package: 'demo' });
    const reasons = (await daemon.backups()).map(({ reason }) => reason);
    expect(reasons).toEqual(['removal', 'upgrade']);

    const folder = join(device.root, 'etc/depotd/backups');
    const [old = ''] = await readdir(folder);
    await utimes(join(folder, old), 1_600_000_000, 1_600_000_000);
    for (let round = 0; round < 11; round += 1) await daemon.run('upgrade', { all: '1' });

    const kept = await readdir(folder);
    expect(kept).toHaveLength(10);
    expect(kept).not.toContain(old);
  });
});

describe('a file that is sent', () => {
  async function aSet(): Promise<Buffer> {
    const { backup = '' } = await daemon.run('backup');
    const set = await daemon.download(backup);
    await daemon.post('admin/store/remove_backup', { id: backup });
    return set;
  }

  test('is accepted if it is one, listed as given, and may be sent again', async () => {
    const set = await aSet();
    const { status, body } = await daemon.add(set);
    expect({ status, code: body.code }).toEqual({ status: 200, code: 200 });
    expect(await daemon.backups()).toMatchObject([{ id: body.id, reason: 'given' }]);
    expect((await daemon.add(set)).body).toEqual(body);
    expect((await daemon.download(body.id ?? '')).equals(set)).toBe(true);
  });

  test('is unpacked by gunzip as it is, with its seal', async () => {
    const file = join(device.root, 'set.tar.gz');
    await writeFile(file, await aSet());
    for (const program of [['tar'], ['busybox', 'tar']] as const) {
      const { stdout } = await runCommand([...program, '-tzf', file]);
      expect(stdout.split('\n')[0]).toBe('manifest.json');
    }
  });

  test('is refused with any byte of it changed, and nothing of it is left', async () => {
    const set = await aSet();
    const positions = [0, 3, 4, 8, 9, set.length - 1, set.length - 8, set.length - 9];
    while (positions.length < 200) positions.push(randomInt(set.length));
    const accepted: number[] = [];
    for (const at of positions) {
      const changed = Buffer.from(set);
      changed.writeUInt8(set.readUInt8(at) ^ (1 + randomInt(255)), at);
      if ((await daemon.add(changed)).status !== 400) accepted.push(at);
    }
    expect(accepted).toEqual([]);
    expect(await readdir(join(device.root, 'etc/depotd/backups'))).toEqual([]);
  });

  const entry = (more: Partial<TarEntry>): TarEntry => ({ name: 'x', mode: 0o600, ...more });
  const manifestOf = (set: Buffer): Manifest => {
    const tar = gunzipSync(set);
    const bytes = Number.parseInt(tar.toString('latin1', 124, 135), 8);
    return JSON.parse(tar.toString('utf8', 512, 512 + bytes)) as Manifest;
  };
  const file = (path: string, more: object = {}): object => ({
    path,
    mode: 0o644,
    bytes: 2,
    sha256: '8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4',
    ...more,
  });
  const content = Buffer.from('hi');
  /** As depotd itself ends a set: what is wrong with one is not its end alone. */
  const sealed = (packed: Buffer): Buffer =>
    Buffer.concat([packed, sealOf(createHash('sha256').update(packed).digest())]);

  test.each<{ what: string; more: object; entries: TarEntry[]; why: string }>([
    {
      what: 'a path outside',
      more: { files: [file('/etc/../../x')] },
      entries: [entry({ name: 'files/etc/../../x', content })],
      why: 'damaged',
    },
    {
      what: 'the records of a package manager',
      more: { files: [file('/usr/lib/opkg/status')] },
      entries: [entry({ name: 'files/usr/lib/opkg/status', content })],
      why: 'no configuration',
    },
    {
      what: 'another name than it says',
      more: { files: [file('/etc/a')] },
      entries: [entry({ name: 'files/../../etc/a', content })],
      why: 'in the place of',
    },
    {
      what: 'a link',
      more: { files: [file('/etc/a')] },
      entries: [entry({ name: 'files/etc/a', type: '2', target: '/etc/shadow' })],
      why: 'no plain file',
    },
    {
      what: 'a device',
      more: { files: [file('/etc/a')] },
      entries: [entry({ name: 'files/etc/a', type: '3' })],
      why: 'no plain file',
    },
    {
      what: 'a file twice',
      more: { files: [file('/etc/a'), file('/etc/a')] },
      entries: [entry({ name: 'files/etc/a', content }), entry({ name: 'files/etc/a', content })],
      why: 'twice',
    },
    {
      what: 'a file that it does not name',
      more: { files: [] },
      entries: [entry({ name: 'files/etc/a', content })],
      why: 'does not name',
    },
    { what: 'a future format', more: { format: 2 }, entries: [], why: 'newer version' },
    {
      what: 'terabytes',
      more: { files: [file('/etc/a', { bytes: 9e12 })] },
      entries: [],
      why: 'too large',
    },
    { what: 'a time after all dates', more: { made_at: 1e13 }, entries: [], why: 'made_at' },
    { what: 'less than it says', more: { files: [file('/etc/a')] }, entries: [], why: 'missing' },
  ])('is refused with $what, and says so', async ({ more, entries, why }) => {
    const manifest = { ...manifestOf(await aSet()), files: [], ...more };
    const first = entry({ name: 'manifest.json', content: Buffer.from(JSON.stringify(manifest)) });
    const { status, body } = await daemon.add(sealed(gzipSync(createTar([first, ...entries], 0))));
    expect({ status, stderr: body.stderr }).toMatchObject({ status: 400 });
    expect(body.stderr).toContain(why);
    expect(await readdir(join(device.root, 'etc/depotd/backups'))).toEqual([]);
    await expect(lstat(join(device.root, 'x'))).rejects.toThrow('ENOENT');
    nothingChanged();
  });

  test('whose content is a bomb is refused before it fills anything', async () => {
    const bomb = sealed(gzipSync(Buffer.alloc(64 * 1024 ** 2)));
    expect((await daemon.add(bomb)).status).toBe(400);
    const manifest = { ...manifestOf(await aSet()), files: [file('/etc/a')] };
    const first = entry({ name: 'manifest.json', content: Buffer.from(JSON.stringify(manifest)) });
    const second = entry({ name: 'files/etc/a', content: Buffer.alloc(64 * 1024 ** 2) });
    const large = sealed(gzipSync(createTar([first, second], 0)));
    expect((await daemon.add(large)).status).toBe(400);
  });
});

test('nothing of a backup is left on a disk where the power went while it was written', async () => {
  const stick = join(device.root, 'mnt/stick');
  await mkdir(stick);
  await writeFile(join(device.root, 'root/scripts/large'), randomBytes(20 * 1024 ** 2));
  const task = await daemon.submit('backup', { path: '/mnt/stick' });
  await expect.poll(() => readdir(stick), { interval: 5 }).not.toEqual([]);
  await daemon.kill('SIGKILL');
  await asOfAnotherBoot(join(device.root, 'etc/depotd/jobs.jsonl'));

  await daemon.restart();

  expect(await daemon.finished(task)).toMatchObject({ state: 'interrupted' });
  expect(await readdir(stick)).toEqual([]);
});

test('a backup that is there stays when it is sent once more and the form turns out bad', async () => {
  const { backup = '' } = await daemon.run('backup');
  const form = new FormData();
  form.append('file', new Blob([await daemon.download(backup)]), 'backup.tar.gz');
  form.append('token', 'another');

  const address = `${daemon.url}${daemon.base}/admin/store/add_backup`;
  expect((await fetch(address, { method: 'POST', body: form })).status).toBe(403);

  expect((await daemon.backups()).map(({ id }) => id)).toEqual([backup]);
});

test('megabytes of nothing behind its end are not read', async () => {
  const { backup = '' } = await daemon.run('backup');
  const tar = gunzipSync(await daemon.download(backup));
  await daemon.post('admin/store/remove_backup', { id: backup });
  const packed = gzipSync(Buffer.concat([tar, Buffer.alloc(4 * 1024 ** 2)]));
  const sum = createHash('sha256').update(packed).digest();

  const { status, body } = await daemon.add(Buffer.concat([packed, sealOf(sum)]));

  expect(status).toBe(400);
  expect(body.stderr).toContain('something stands behind its end');
});

test('what is cut or garbled is refused in plain words', async () => {
  const { backup = '' } = await daemon.run('backup');
  const set = await daemon.download(backup);
  const noJson: TarEntry = { name: 'manifest.json', mode: 0o600, content: Buffer.from('{"a":') };
  for (const file of [set.subarray(0, set.length / 2), gzipSync(createTar([noJson], 0))]) {
    const { body } = await daemon.add(file);
    expect(body.stderr).toBe('cannot use the backup: it was changed, or its end is missing');
  }
});
