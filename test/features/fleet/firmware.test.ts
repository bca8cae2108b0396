import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';

import { runCommand } from '../../device/command.ts';
import { asOfAnotherBoot } from '../../support/power-cut.ts';
import { ipk, moduleOf, planOf, type FleetDevice } from './fleet-device.ts';
import { shareFleetDevice } from './shared-device.ts';
import type { StandIn } from './stand-in.ts';

/**
 * Firmware by rollout. `sysupgrade` writes its arguments down; the boot is acted out: the daemon is
 * killed, what is on record is of another boot, and /etc/openwrt_release is the new system's.
 */
let server: StandIn;
let on: FleetDevice;
let programs: string;

const IMAGE = Buffer.from('an image');
const firmware = (more: object = {}): Parameters<StandIn['publish']>[0][0] => ({
  files: { 'openwrt-sysupgrade.bin': IMAGE },
  ...planOf({ version: 1, firmware: { version: '24.10.5', ...more } }),
});
const runs = (version: string): Promise<void> =>
  writeFile(join(on.device.root, 'etc/openwrt_release'), `DISTRIB_RELEASE='${version}'\n`);
/** What sysupgrade was called with, one call a line. */
const calls = async (): Promise<string[]> =>
  (await readFile(join(programs, 'calls'), 'utf8').catch(() => '')).split('\n').filter(Boolean);
const untilFlashed = (): Promise<void> =>
  expect.poll(async () => (await on.poll(), (await calls()).length), { timeout: 30_000 }).toBe(2);
/** What waits for the restart ends with the system, as on a device. */
const endSystem = async (): Promise<void> => {
  for (const pid of (await readFile(join(programs, 'pids'), 'utf8').catch(() => '')).split('\n')) {
    if (pid !== '') await runCommand(['sh', '-c', `kill -9 -${pid} 2>&- || true`]);
  }
};
const boot = async (version: string): Promise<void> => {
  await on.daemon.kill('SIGKILL');
  await endSystem();
  await asOfAnotherBoot(join(on.device.root, 'etc/depotd/jobs.jsonl'));
  await runs(version);
  await on.daemon.restart();
};

beforeAll(async () => {
  programs = await mkdtemp(join(tmpdir(), 'depotd-sysupgrade-'));
  await writeFile(
    join(programs, 'sysupgrade'),
    `#!/bin/sh\necho "$*" >> ${programs}/calls\necho $PPID >> ${programs}/pids\n` +
      `case "$(cat ${programs}/judgement 2>&-)" in bad) echo "Image metadata not present"; exit 74;; esac\n`,
  );
  await chmod(join(programs, 'sysupgrade'), 0o755);
});
shareFleetDevice(
  () =>
    Promise.resolve({
      set: ['fleet.allow=install', 'fleet.allow=firmware'],
      env: { PATH: `${programs}:${process.env['PATH'] ?? ''}` },
    }),
  (...shared) => ([server, on] = shared),
);
beforeEach(async () => {
  for (const name of ['calls', 'pids', 'judgement']) {
    await rm(join(programs, name), { force: true });
  }
  await mkdir(join(on.device.root, 'etc'), { recursive: true });
  await runs('24.10.2');
});
afterEach(endSystem);
afterAll(() => rm(programs, { recursive: true, force: true }));

test('an image is tried, installed by sysupgrade with the settings kept, and reported by the system that it brings', async () => {
  const action = await on.rollOut(firmware());
  await untilFlashed();
  const [tried, flashed] = await calls();

  expect(tried).toMatch(/^-T \/.*\.bin$/);
  expect(flashed).toBe(tried?.replace('-T ', ''));
  expect(await server.action(on.id, action)).not.toMatchObject({ status: 'finished' });

  await boot('24.10.5');
  const { status, messages } = await on.over(action);
  expect(status).toBe('finished');
  expect(messages.join('\n')).toContain('the firmware 24.10.5 runs');
  expect(await calls()).toHaveLength(2);
});

test.each([
  ['what the command waits in', (pid: string) => `$(cat /proc/${pid}/task/${pid}/children)`],
  ['the command', (pid: string) => pid],
])('sysupgrade ends all: that %s ends ahead of the daemon is no failure', async (_, which) => {
  const action = await on.rollOut(firmware());
  await untilFlashed();

  const [, flashing = ''] = (await readFile(join(programs, 'pids'), 'utf8')).split('\n');
  await runCommand(['sh', '-c', `kill -TERM ${which(flashing)}`]);
  // As long as sysupgrade leaves the daemon.
  for (let polls = 0; polls < 8; polls += 1) {
    await delay(500);
    await on.poll();
  }
  await boot('24.10.5');

  expect(await on.over(action)).toMatchObject({ status: 'finished' });
  expect(await calls()).toHaveLength(2);
});

test('a device that comes back with the old firmware says so, and does not try again', async () => {
  const action = await on.rollOut(firmware());
  await untilFlashed();

  await boot('24.10.2');

  const { status, messages } = await on.over(action);
  expect(status).toBe('error');
  expect(messages.join('\n')).toContain('the firmware 24.10.5 does not run');
  expect(await calls()).toHaveLength(2);
});

test('an image that sysupgrade refuses is not installed, and its reason is told', async () => {
  await writeFile(join(programs, 'judgement'), 'bad');

  const { status, messages } = await on.over(await on.rollOut(firmware()));

  expect(status).toBe('error');
  expect(messages.join('\n')).toContain('Image metadata not present');
  expect(messages).toContain('error_code firmware_refused');
  expect(await calls()).toHaveLength(1);
});

test('where the version runs already nothing is done: settings that were not kept make no loop', async () => {
  await runs('24.10.5');

  const { status } = await on.over(await on.rollOut(firmware({ keep_settings: false })));

  expect(status).toBe('finished');
  expect(await calls()).toEqual([]);
});

test('settings are given up only where the plan says so', async () => {
  await on.rollOut(firmware({ keep_settings: false }));
  await untilFlashed();

  expect((await calls())[1]).toMatch(/^-n \//);
  await boot('24.10.5');
});

test.each([
  ['other packages', [firmware(), moduleOf(ipk('one'))], 'nothing else in its distribution set'],
  [
    'no version',
    [{ files: { 'x-sysupgrade.bin': IMAGE } }],
    'does not say which version its image is',
  ],
])('an image with %s is refused before anything is done', async (_, modules, reason) => {
  const { status, messages } = await on.over(await on.rollOut(...modules));

  expect(status).toBe('error');
  expect(messages.join('\n')).toContain(reason);
  expect(await calls()).toEqual([]);
});
