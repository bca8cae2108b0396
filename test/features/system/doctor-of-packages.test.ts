import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import { createApk } from '../../device/apk-device/apk.ts';
import { createApkDevice, type ApkDevice } from '../../device/apk-device/apk-device.ts';
import type { ApkFeedPackage } from '../../device/apk-device/apk-index.ts';
import { startDaemon, type TestDaemon } from '../../device/daemon.ts';
import { createDevice, type Device } from '../../device/device.ts';
import { change, findingOf } from '../feeds/feed-answer.ts';

const build = (text: string): ApkFeedPackage => ({
  name: 'sent',
  version: '1.0-r1',
  files: { '/usr/bin/sent': text },
});

describe('with apk', () => {
  let device: ApkDevice;
  let daemon: TestDaemon;
  beforeAll(async () => {
    device = await createApkDevice({ packages: [build('theirs')] });
    daemon = await startDaemon(device);
    await change(daemon, 'update', {});
  });
  afterAll(async () => {
    await daemon.close();
    await device.close();
  });

  test('a package that is bound to a file no feed has is named, though its version is there', async () => {
    expect((await change(daemon, 'install', { package: 'libdemo' })).state).toBe('done');
    await expect.poll(() => findingOf(daemon, 'hash-pins')).toMatchObject({ state: 'skipped' });
    const records = await readFile(join(device.root, 'lib/apk/db/installed'), 'utf8');
    const [, hash = ''] = /^C:(\S+)\nP:libdemo$/m.exec(records) ?? [];
    const world = join(device.root, 'etc/apk/world');
    const text = await readFile(world, 'utf8');
    onTestFinished(() => writeFile(world, text));
    const pin = (to: string): Promise<void> =>
      writeFile(world, text.replace(/^libdemo$/m, `libdemo><${to}`));
    const lost = {
      state: 'warning',
      message: 'bound to a file that no feed has: libdemo',
    };
    await pin(hash);
    await expect.poll(() => findingOf(daemon, 'hash-pins')).toMatchObject({ state: 'ok' });
    await pin(`Q1${'A'.repeat(27)}=`);
    await expect.poll(() => findingOf(daemon, 'hash-pins')).toMatchObject(lost);

    await pin(hash);
    device.publish(2);
    await device.apk('update');

    await expect.poll(() => findingOf(daemon, 'hash-pins')).toMatchObject(lost);
  });

  test('another build of the same version in a feed is another file', async () => {
    for (const [file, state] of [
      ['mine', 'warning'],
      ['theirs', 'ok'],
    ] as const) {
      const path = join(device.root, 'mnt/sent.apk');
      await writeFile(path, createApk(build(file)).bytes);
      expect((await device.apk('add', '--allow-untrusted', path)).code).toBe(0);
      await expect.poll(() => findingOf(daemon, 'hash-pins')).toMatchObject({ state });
    }
  });

  test('a key that no feed uses is named, and one of the firmware is not', async () => {
    const finding = (): Promise<unknown> => findingOf(daemon, 'feed-keys');
    await expect.poll(finding).toMatchObject({ state: 'ok' });
    const pem = (await device.read('etc/apk/keys/lab.pem')) ?? '';

    await put(device.root, 'etc/apk/keys/unknown.pem', pem);

    await expect.poll(finding).toMatchObject({
      state: 'warning',
      message: expect.stringContaining('unknown.pem') as string,
    });
    await put(device.root, 'rom/etc/apk/keys/unknown.pem', pem);
    await expect.poll(finding).toMatchObject({ state: 'ok' });
  });

  test('with apk the records that cannot be used are named', async () => {
    const finding = (): Promise<unknown> => findingOf(daemon, 'package-database');
    await expect.poll(finding).toMatchObject({ state: 'ok' });
    await writeFile(join(device.root, 'etc/apk/world'), '');
    await expect.poll(finding).toMatchObject({
      state: 'error',
      message: expect.stringContaining('etc/apk/world') as string,
    });
  });
});

describe('with opkg', () => {
  let device: Device;
  let daemon: TestDaemon;
  beforeAll(async () => {
    device = await createDevice();
    daemon = await startDaemon(device);
    await change(daemon, 'update', {});
  });
  afterAll(async () => {
    await daemon.close();
    await device.close();
  });

  test('a file with two owners is named with both', async () => {
    for (const name of ['libdemo', 'demo-app']) await change(daemon, 'install', { package: name });
    expect(await findingOf(daemon, 'file-owners')).toMatchObject({ state: 'ok' });
    const info = join(device.root, 'usr/lib/opkg/info');
    const [first = ''] = (await readFile(join(info, 'libdemo.list'), 'utf8')).split('\n');

    await appendFile(join(info, 'demo-app.list'), `${first}\n`);

    const finding = (await findingOf(daemon, 'file-owners')) as { state: string; message: string };
    expect(finding.state).toBe('warning');
    expect(finding.message).toMatch(/libdemo.*demo-app|demo-app.*libdemo/);
  });

  test('a file of /etc/config that a firmware upgrade would lose is named', async () => {
    await put(device.root, 'etc/config/forgotten', 'config x\n');
    await put(device.root, 'etc/sysupgrade.conf', '/etc/config/kept\n');
    await put(device.root, 'etc/config/kept', 'config x\n');

    const finding = (await findingOf(daemon, 'kept-configuration')) as { message: string };

    expect(finding).toMatchObject({ state: 'warning' });
    expect(finding.message).toContain('/etc/config/forgotten');
    expect(finding.message).not.toContain('/etc/config/kept');
    await put(device.root, 'etc/sysupgrade.conf', '/etc/config/\n');
    expect(await findingOf(daemon, 'kept-configuration')).toMatchObject({ state: 'ok' });
  });

  test('a restore that was given up is named, for a firmware upgrade would not bring back what is here now', async () => {
    expect(await findingOf(daemon, 'restore')).toMatchObject({ state: 'skipped' });
    await daemon.close();
    const due = { backup: 'a'.repeat(32), tries: 4 };
    await put(device.root, 'etc/depotd/restore-due.json', JSON.stringify(due));

    await daemon.restart();

    const finding = async (): Promise<unknown> => findingOf(daemon, 'restore');
    await expect.poll(finding).toMatchObject({
      state: 'warning',
      message: 'a restore was given up: the backup aaaaaaaa did not come back in 5 tries',
      remedy: 'restore it or another backup, or remove it',
    });
    await daemon.post('admin/store/remove_backup', { id: due.backup });
    expect(await finding()).toMatchObject({ state: 'skipped' });
  });
});

async function put(root: string, path: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
}
