import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { networkInterfaces, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';

import { ipk, moduleOf, planOf, type FleetDevice } from './fleet-device.ts';
import { openFleetDevice, shareFleetDevice } from './shared-device.ts';
import type { StandIn } from './stand-in.ts';

/** What the server knows of a device, and what it costs to know it. */
let server: StandIn;
let on: FleetDevice;

const begin = async (...set: string[]): Promise<void> => {
  [server, on] = await openFleetDevice(...set);
};
const write = async (path: string, text: string): Promise<string> => {
  const file = join(on.device.root, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
  return file;
};
const sent = async (): Promise<Record<string, string>> => {
  await on.poll();
  return server.attributes(on.id);
};
const puts = (): number => server.requests.filter((line) => line.startsWith('PUT')).length;

test('what the device is is known by its own words', async () => {
  await begin('fleet.report_packages=libc');
  await write('proc/sys/kernel/hostname', 'school-7\n');
  await write('tmp/sysinfo/board_name', 'glinet,gl-mt3000\n');
  await write('etc/openwrt_release', "DISTRIB_TARGET='mediatek/filogic'\n");
  await write('sys/class/net/eth0/address', '02:00:5e:10:00:01\n');
  await write('sys/class/net/eth0/device/uevent', '');
  await write('sys/class/net/wlan0/address', '02:00:5e:10:00:02\n');
  await write('sys/class/net/wlan0/device/uevent', '');
  await write('sys/class/net/veth1/address', '02:00:5e:10:00:03\n');

  const attributes = await sent();

  expect(attributes).toMatchObject({
    hostname: 'school-7',
    board: 'glinet,gl-mt3000',
    target: 'mediatek/filogic',
    mac: '02005e100001',
    macs: '02:00:5e:10:00:01 02:00:5e:10:00:02',
    memory_mb: expect.stringMatching(/^\d+$/) as string,
    uptime_h: expect.stringMatching(/^\d+$/) as string,
    'package.libc': expect.stringMatching(/./) as string,
  });
  expect(attributes).not.toHaveProperty('addresses');
});

test('addresses are sent by choice alone, and none that mean only the device itself', async () => {
  await begin('fleet.report_addresses=yes');

  const { addresses = '' } = await sent();

  const own = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  for (const { address, internal } of own) {
    if (internal) expect(addresses.split(' ')).not.toContain(address);
    else if (!/^fe80/i.test(address)) expect(addresses).toContain(address);
  }
});

test('what has changed is looked at each so many minutes, and at once after a reload', async () => {
  await begin();
  await sent();
  await write('proc/sys/kernel/hostname', 'renamed\n');

  for (let polls = 0; polls < 5; polls += 1) await sent();
  expect(puts()).toBe(1);

  await on.daemon.kill('SIGKILL');
  await on.daemon.restart();
  expect(await sent()).toMatchObject({ hostname: 'renamed' });
  expect(puts()).toBe(2);
});

test('what changes all the time causes no request', async () => {
  await begin('fleet.attributes_every_min=0');
  await sent();
  await write('some/file', 'x'.repeat(5_000_000));

  for (let polls = 0; polls < 5; polls += 1) await sent();

  expect(puts()).toBe(1);
});

describe('a program of the owner', () => {
  let folder: string;
  shareFleetDevice(
    async () => {
      folder = await mkdtemp(join(tmpdir(), 'depotd-own-'));
      const options = [`attributes_script=${join(folder, 'own')}`, 'attributes_every_min=0'];
      return { set: options.map((option) => `fleet.${option}`) };
    },
    (...shared) => ([server, on] = shared),
  );
  afterAll(() => rm(folder, { recursive: true }));
  const writeProgram = async (text: string, mode = 0o755, folderMode = 0o755): Promise<void> => {
    await writeFile(join(folder, 'own'), `#!/bin/sh\n${text}\n`);
    await chmod(join(folder, 'own'), mode);
    await chmod(folder, folderMode);
  };

  test.each<[string, string, Record<string, string>]>([
    [
      'lines of key and value',
      'echo site=north; echo "a b=c"; echo room=',
      { 'own.site': 'north' },
    ],
    ['no value that looks like HTML', 'echo "site=<b>x"', { 'own.site': 'bx' }],
    ['why it failed', 'exit 3', { attributes_error: 'it ended with exit code 3' }],
    ['that it hangs', 'sleep 60', { attributes_error: 'it took longer than 5 s' }],
    ['that it writes on', 'yes a=b', { attributes_error: 'it wrote more than 8192 bytes' }],
  ])('gives %s', async (_, text, expected) => {
    await writeProgram(text);

    const attributes = await sent();

    const own = Object.entries(attributes).filter(([key]) => /^own\.|error/.test(key));
    expect(Object.fromEntries(own)).toEqual(expected);
  });

  test.each([
    ['it itself', 0o757, 0o755, 'others may change it'],
    ['its folder', 0o755, 0o777, 'others may write in'],
  ])('is not run if others may write %s', async (_, ...[mode, folderMode, why]) => {
    await writeProgram('echo site=north', mode, folderMode);

    const attributes = await sent();

    expect(attributes.attributes_error).toContain(why);
    expect(attributes).not.toHaveProperty(['own.site']);
  });
});

test('what an owner removes or puts back of what was rolled out is told, and nothing is forced', async () => {
  await begin('fleet.allow=install', 'fleet.allow=remove');
  await on.over(await on.rollOut(moduleOf(ipk('one', { version: '2.0-1' }), ipk('two'))));
  expect(await sent()).not.toHaveProperty('drift');

  await on.device.opkg('remove', 'two');
  expect(await sent()).toMatchObject({ drift: 'two missing' });

  const older = await write('older.ipk', '');
  await writeFile(older, ipk('one', { version: '1.0-1' }).bytes);
  await on.device.opkg('install', '--force-downgrade', older);
  expect(await sent()).toMatchObject({ drift: 'one 1.0-1, two missing' });
  const before = puts();
  await sent();
  expect(puts()).toBe(before);

  await on.over(
    await on.rollOut(
      planOf({ version: 1, remove: ['two'] }),
      moduleOf(ipk('one', { version: '2.0-1' })),
    ),
  );
  expect(await sent()).not.toHaveProperty('drift');
});
