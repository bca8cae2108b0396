import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

import { ipk, moduleOf, planOf, type FleetDevice } from './fleet-device.ts';
import type { FleetServer } from './fleet-server.ts';
import { SERVERS } from './hawkbit.ts';
import { shareDeviceOf } from './shared-device.ts';

describe.each(SERVERS)('a device of %s', (_, createServer) => {
  let server: FleetServer;
  let on: FleetDevice;
  const everything = ['install', 'upgrade', 'remove', 'run', 'settings'];

  shareDeviceOf(
    createServer,
    { set: everything.map((name) => `fleet.allow=${name}`) },
    (...shared) => ([server, on] = shared),
  );

  test('says what operators filter by with its first poll', async () => {
    await on.poll();

    expect(await server.attributes(on.id)).toMatchObject({
      arch: 'x86_64',
      package_manager: 'opkg',
      release: '22.03.7',
    });
  });

  test('installs the packages of a distribution set, and closes its action with success', async () => {
    const action = await on.rollOut(moduleOf(ipk('one')), moduleOf(ipk('two'), ipk('three')));

    expect(await on.over(action)).toMatchObject({ status: 'finished' });
    const database = await on.device.database();
    expect([...database.keys()]).toEqual(expect.arrayContaining(['one', 'two', 'three']));
    expect((await on.status()).action).toMatchObject({ result: 'success', is_reported: true });
  });

  test.each([
    ['success', 'exit 0'],
    ['failure', 'exit 1'],
  ])('has no file in memory of an action that ended with %s', async (result, script) => {
    const action = await on.rollOut(moduleOf(ipk('one')), {
      files: { 'setup.run': Buffer.from(`#!/bin/sh\n${script}\n`) },
    });
    await on.over(action);

    expect((await on.status()).action).toMatchObject({ result });
    await expect
      .poll(() => readdir(join(on.device.root, 'tmp/depotd/fleet')), { timeout: 5000 })
      .toEqual([]);
  });

  test('installs, and removes, what a plan names', async () => {
    await on.over(await on.rollOut(moduleOf(ipk('old'))));
    const action = await on.rollOut(planOf({ version: 1, install: ['tiny-01'], remove: ['old'] }));

    expect(await on.over(action)).toMatchObject({ status: 'finished' });
    const database = await on.device.database();
    expect(database.has('tiny-01')).toBe(true);
    expect(database.has('old')).toBe(false);
  });

  test('closes an action with failure if a package cannot be installed, and takes back the others', async () => {
    const good = ipk('good');
    const bad = ipk('zbad', { fields: { Depends: 'absent-package' } });
    const action = await on.rollOut(moduleOf(good, bad));

    const { status, messages } = await on.over(action);

    expect(status).toBe('error');
    expect(messages.join('\n')).toContain('zbad needs absent-package');
    expect(messages).toContain('error_code dependency_missing');
    expect(messages.join('\n')).not.toContain('<');
    expect(await on.names()).toEqual(['libc']);
  });

  test('refuses what its owner does not allow, before anything is fetched', async () => {
    const action = await on.rollOut(
      planOf({ version: 1, self_upgrade: true }),
      moduleOf(ipk('one')),
    );

    const { status, messages } = await on.over(action);

    expect(status).toBe('error');
    expect(messages.join('\n')).toContain(
      'fleet.allow of this device does not have "self_upgrade"',
    );
    expect(messages.join('\n')).toContain('error_code not_allowed');
    expect(await on.names()).toEqual(['libc']);
  });
});
