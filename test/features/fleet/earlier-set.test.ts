import { expect, test } from 'vitest';

import { ipk, moduleOf, type FleetDevice } from './fleet-device.ts';
import { openFleetDevice, shareFleetDevice } from './shared-device.ts';

/** A set is the state that is wished for: an earlier one is the way back from a later one. */
let on: FleetDevice;

const version = (number: string): ReturnType<typeof ipk> =>
  ipk('app', { fields: { Version: number }, files: { '/usr/share/app': number } });
const rollOut = (...packages: ReturnType<typeof ipk>[]): Promise<string> =>
  on.rollOut(moduleOf(...packages));
const installed = async (): Promise<string | undefined> =>
  (await on.device.database()).get('app')?.version;

shareFleetDevice({}, (_, shared) => (on = shared));

test('an earlier set is gone back to', async () => {
  await on.over(await rollOut(version('2.0-1')));

  const action = await rollOut(version('1.9-1'));

  expect(await on.over(action)).toMatchObject({ status: 'finished' });
  expect(await installed()).toBe('1.9-1');
  expect(await on.device.read('usr/share/app')).toBe('1.9-1');
});

test('an earlier set that fails leaves the version that was there', async () => {
  await on.over(await rollOut(version('2.0-1')));

  const action = await rollOut(
    version('1.9-1'),
    ipk('zbad', { scripts: { postinst: '#!/bin/sh\nexit 1\n' } }),
  );

  expect(await on.over(action)).toMatchObject({ status: 'error' });
  expect(await installed()).toBe('2.0-1');
});

test('where it is not allowed, a package that is older fails by its own code', async () => {
  [, on] = await openFleetDevice('fleet.allow=install');
  await on.over(await rollOut(version('2.0-1')));

  const action = await rollOut(version('1.9-1'));

  const { status, messages } = await on.over(action);
  expect(status).toBe('error');
  expect(messages).toContain('error_code older_version');
  expect(messages.join('\n')).toContain('cannot install app 1.9-1: 2.0-1 is installed');
  expect(await installed()).toBe('2.0-1');
});
