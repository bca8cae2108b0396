import { link, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import { runCommand, type Outcome } from '../../device/command.ts';
import type { Device } from '../../device/device.ts';
import { canBeAnother, snapshotOf, withoutProtection } from '../../support/another-user.ts';
import { createOpenDevice, PLANTS, type OpenDevice } from '../../support/open-device.ts';
import { openHost } from './open-host.ts';

/** The self-upgrade's watcher calls opkg while no daemon looks after the name of its lock. */
describe.skipIf(!canBeAnother)('what another user planted in the place of opkg’s lock', () => {
  let restore: () => void;
  let open: OpenDevice;
  let close: () => Promise<void>;
  beforeAll(async () => {
    restore = withoutProtection();
    open = await createOpenDevice((atEnd) => (close = atEnd));
  });
  afterAll(async () => {
    await close();
    restore();
  });

  test.each(Object.entries(PLANTS))(
    '%s leads the watcher of a self-upgrade nowhere, and only a folder keeps it from its upgrade',
    async (name, plant) => {
      const { device, outside, plant: putThere } = open;
      await putThere('tmp/lock/opkg.lock', plant);
      const before = await snapshotOf(outside);

      const { stderr } = await watcherUpgrades(device, 'absent');

      expect(await snapshotOf(outside)).toEqual(before);
      expect(stderr).toMatch(name === 'a folder full of links' ? /is not root's/ : /^$/);
      await rm(join(device.root, 'tmp/lock/opkg.lock'), { recursive: true, force: true });
    },
  );

  test('another name of a file of root’s in its place leaves that file as it was', async () => {
    const { device, outside } = open;
    const lock = join(device.root, 'tmp/lock/opkg.lock');
    for (const run of [
      async () => (await openHost(device)).installation.prepareFolders(),
      async () => watcherUpgrades(device, 'absent'),
    ]) {
      await rm(lock, { force: true });
      await link(join(outside, 'file'), lock);
      const before = await snapshotOf(outside);

      await run();

      expect(await snapshotOf(outside)).toEqual(before);
    }
  });

  test.each(Object.entries(PLANTS))(
    '%s in the place of the record of another destination leads it nowhere',
    async (_, plant) => {
      const { device, outside, plant: putThere } = open;
      onTestFinished(() => rm(join(device.root, 'tmp/usr'), { recursive: true }));
      const record = 'tmp/usr/lib/opkg/status';
      await putThere('tmp/usr', () => `mkdir -p ${dirname(record)}; ${plant(record)}`);
      const before = await snapshotOf(outside);

      const { stderr } = await watcherUpgrades(device, 'demo');

      expect(await snapshotOf(outside)).toEqual(before);
      expect(stderr).toContain("a folder of its status files is not root's");
    },
  );

  test('another destination is found however opkg.conf names it, and nothing else is made', async () => {
    const { device, plant } = await createOpenDevice();
    const lines = 'dest "usb disk" "/mnt/my disk"\ndest last /mnt/last';
    await writeFile(join(device.root, 'etc/opkg/zy.conf'), lines);
    await writeFile(join(device.root, 'etc/opkg/zz.conf'), '# nothing\n');

    expect(await watcherUpgrades(device, 'absent')).toMatchObject({ stderr: '' });

    expect((await readdir(join(device.root, 'mnt'))).sort()).toEqual(['last', 'my disk']);
    expect((await readdir(device.root)).filter((name) => name.includes('"'))).toEqual([]);
    await writeFile(join(device.root, 'etc/opkg/zz.conf'), 'dest other "/tmp/other"\n');
    await plant('tmp/other', PLANTS['a link to a folder'] ?? String);
    expect((await watcherUpgrades(device, 'absent')).code).toBe(1);
  });

  test('a disk that nobody can write keeps the watcher from nothing', async () => {
    const { device } = await createOpenDevice();
    await mkdir(join(device.root, 'mnt/disk'), { recursive: true });
    await writeFile(join(device.root, 'etc/opkg/zz.conf'), 'dest disk /mnt/disk\n');
    await runCommand(['mount', '-t', 'tmpfs', '-o', 'ro', 'none', join(device.root, 'mnt/disk')]);
    onTestFinished(async () => {
      await runCommand(['umount', join(device.root, 'mnt/disk')]);
    });

    expect((await watcherUpgrades(device, 'absent')).stderr).not.toContain('status files');
  });

  test('a lock folder of somebody else is not used', async () => {
    const { device, outside, plant } = await createOpenDevice();
    await plant('tmp/lock', (name) => `mkdir ${name}; ln -s "$OUTSIDE/file" ${name}/opkg.lock`);
    const before = await snapshotOf(outside);

    const { code, stderr } = await watcherUpgrades(device, 'demo');

    expect(await snapshotOf(outside)).toEqual(before);
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: /cannot run opkg: its lock file/ });
  });
});

async function watcherUpgrades(device: Device, name: string): Promise<Outcome> {
  const { script, settings } = (await openHost(device)).manager.selfUpgrade;
  const folder = join(device.root, 'etc/depotd/self-upgrade');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'manager.sh'), script);
  await writeFile(join(folder, 'settings'), `${settings.join('\n')}\n`);
  const text = `root=$1 folder=$2 package=$3 old=1
    . "$folder/manager.sh"
    read_manager_settings <"$folder/settings"
    upgrade`;
  return runCommand(['sh', '-c', text, 'sh', device.root, folder, name], { env: device.env });
}
