import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { createApk, type ApkSource } from '../../device/apk-device/apk.ts';
import { toApkPackage } from '../../device/apk-device/apk-conversion.ts';
import { createApkDevice, type ApkDevice } from '../../device/apk-device/apk-device.ts';
import { simplePackage } from '../../device/packages/package-parts.ts';
import { joinFleet, planOf, type FleetDevice } from './fleet-device.ts';
import type { PublishedModule } from './fleet-server.ts';
import { createStandIn, type StandIn } from './stand-in.ts';

let server: StandIn;
let on: FleetDevice<ApkDevice>;

function moduleOf(...sources: Partial<ApkSource>[]): PublishedModule {
  const all = sources.map((source) =>
    createApk({ ...toApkPackage(simplePackage(source.name ?? 'one')), ...source }),
  );
  return { files: Object.fromEntries(all.map(({ fileName, bytes }) => [fileName, bytes])) };
}
const isThere = async (name: string): Promise<boolean> => (await on.device.database()).has(name);

beforeAll(async () => {
  server = await createStandIn();
  const device = await createApkDevice();
  await device.apk('update');
  on = await joinFleet(server, device, {
    set: ['install', 'upgrade', 'remove', 'run'].map((name) => `fleet.allow=${name}`),
  });
});
afterAll(async () => {
  await on.close();
  await server.close();
});

test('with apk, files come in the order of what they depend on, and the action succeeds', async () => {
  const action = await on.rollOut(moduleOf({ name: 'aaa', depends: ['bbb'] }, { name: 'bbb' }));

  expect(await on.over(action)).toMatchObject({ status: 'finished' });
  expect([await isThere('aaa'), await isThere('bbb')]).toEqual([true, true]);
});

test('with apk, a plan installs and removes by name', async () => {
  await on.over(await on.rollOut(moduleOf({ name: 'old' })));

  const action = await on.rollOut(planOf({ version: 1, install: ['demo'], remove: ['old'] }));

  expect(await on.over(action)).toMatchObject({ status: 'finished' });
  expect([await isThere('demo-app'), await isThere('old')]).toEqual([true, false]);
});

test('with apk, what fails takes the other packages of the action with it', async () => {
  const before = [...(await on.device.database()).keys()];
  const action = await on.rollOut(
    moduleOf({ name: 'fine' }, { name: 'zbad', depends: ['absent'] }),
  );

  const { status, messages } = await on.over(action);

  expect(status).toBe('error');
  expect(messages.join('\n')).toContain('error_code');
  expect([...(await on.device.database()).keys()]).toEqual(before);
});

describe('with apk, an action that fails at its end', () => {
  const fails = { files: { 'z.run': Buffer.from('#!/bin/sh\nexit 7\n') } };
  const state = async (): Promise<unknown> => [
    [...(await on.device.database())].map(([name, { version }]) => [name, version]).sort(),
    (await on.device.read('etc/apk/world'))?.split('\n').sort(),
  ];

  test('leaves an upgraded and a removed app as they were, and world', async () => {
    await on.device.apk('add', 'app-meta-demo', 'app-meta-notes');
    const config = "config demo 'main'\n\toption mine 'yes'\n";
    await writeFile(join(on.device.root, 'etc/config/demo-app'), config);
    const before = await state();
    on.device.publish(2);
    const plan = { version: 1, upgrade: ['demo', 'demo-app'], remove: ['notes', 'notes-app'] };

    const { status, messages } = await on.over(await on.rollOut(planOf(plan), fails));

    expect(status).toBe('error');
    expect(messages.join('\n')).not.toContain('could not be put back');
    expect(await state()).toEqual(before);
    expect(await on.device.read('usr/bin/demo-app')).toContain('demo-app 1.0-');
    expect(await on.device.read('etc/config/demo-app')).toBe(config);
  });

  test('puts back a version that a file has replaced, and removes what that needed', async () => {
    await on.over(await on.rollOut(moduleOf({ name: 'alpha' })));
    const before = (await state()) as [unknown];

    const action = await on.rollOut(
      moduleOf({ name: 'alpha', version: '9.0-r1', depends: ['brought'] }, { name: 'brought' }),
      fails,
    );

    expect(await on.over(action)).toMatchObject({ status: 'error' });
    expect(((await state()) as [unknown])[0]).toEqual(before[0]);
  });
});
