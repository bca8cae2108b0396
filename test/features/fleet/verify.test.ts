import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';

import { ipk, moduleOf, planOf, type FleetDevice } from './fleet-device.ts';
import { shareFleetDevice } from './shared-device.ts';
import type { StandIn } from './stand-in.ts';

/** What is changed has to work, not only to be there. */
let server: StandIn;
let on: FleetDevice;
const BEFORE = "config interface 'wan'\n\toption proto 'dhcp'\n";
const config = (): string => join(on.device.root, 'etc/config/network');
const CUT = planOf({ version: 1, settings: { 'network.wan.proto': 'none' } });
/** The line is cut while the settings are so. */
const cutLine = (): void => {
  server.intercept = (request, response) => {
    void readFile(config(), 'utf8').then((text) => {
      if (text === BEFORE) server.pass(request, response);
      else response.destroy();
    });
    return true;
  };
};

shareFleetDevice(
  {
    set: ['install', 'settings', 'run']
      .map((name) => `fleet.allow=${name}`)
      .concat('fleet.settings=network.wan.proto', 'fleet.reach_s=6'),
  },
  (...shared) => ([server, on] = shared),
);
beforeEach(async () => {
  await mkdir(join(on.device.root, 'etc/config'), { recursive: true });
  await writeFile(config(), BEFORE);
});

test('settings that cut the device off from its server go back, and it says so', async () => {
  cutLine();

  const { status, messages } = await on.over(await on.rollOut(CUT, moduleOf(ipk('one'))));

  expect(status).toBe('error');
  expect(messages).toContain('error_code cut_off');
  expect(await readFile(config(), 'utf8')).toBe(BEFORE);
  expect(await on.names()).toEqual(['libc']);
});

test('also of a daemon that is killed while it waits for the server', async () => {
  cutLine();
  const action = await on.rollOut(CUT);
  await expect
    .poll(async () => (await on.poll(), readFile(config(), 'utf8')), { timeout: 30_000 })
    .not.toBe(BEFORE);
  await on.daemon.kill('SIGKILL');
  await on.daemon.restart();

  expect(await on.over(action)).toMatchObject({ status: 'error' });
  expect(await readFile(config(), 'utf8')).toBe(BEFORE);
});

test('settings with which the server still answers stay', async () => {
  expect(await on.over(await on.rollOut(CUT))).toMatchObject({ status: 'finished' });

  expect(await readFile(config(), 'utf8')).toContain("option proto 'none'");
});

test.each([
  ['an address that does not answer', { http: 'http://127.0.0.1:1/', seconds: 3 }],
  ['a command that fails', { command: ['/bin/false'], seconds: 3 }],
  ['a command that hangs', { command: ['/bin/sleep', '3600'], seconds: 3 }],
])('what does not work by %s is put back', async (_, verify) => {
  const action = await on.rollOut(moduleOf(ipk('one')), planOf({ version: 1, verify: [verify] }));

  const { status, messages } = await on.over(action);

  expect(status).toBe('error');
  expect(messages).toContain('error_code verify_failed');
  expect(await on.names()).toEqual(['libc']);
});

test('what works stays', async () => {
  const verify = [
    { http: `${on.daemon.url}/healthz`, seconds: 5 },
    { command: ['/bin/true'], seconds: 5 },
  ];
  const action = await on.rollOut(moduleOf(ipk('one')), planOf({ version: 1, verify }));

  expect(await on.over(action)).toMatchObject({ status: 'finished' });
  expect(await on.names()).toEqual(['libc', 'one']);
});
