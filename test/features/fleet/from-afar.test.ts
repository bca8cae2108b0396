import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { asOfAnotherBoot } from '../../support/power-cut.ts';
import { ipk, moduleOf, planOf, type FleetDevice } from './fleet-device.ts';
import { shareFleetDevice } from './shared-device.ts';
import type { StandIn } from './stand-in.ts';

/** What an operator sees of a device without a way into it, and a restart from there. */
let server: StandIn;
let on: FleetDevice;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'depotd-log-'));
  const program = join(folder, 'logread');
  await writeFile(program, `#!/bin/sh\n[ "$1 $2" = '-l 200' ] && exec cat ${folder}/log\n`);
  await chmod(program, 0o755);
});
const shareDeviceThatMay = (...allow: string[]): void =>
  shareFleetDevice(
    () => {
      const path = [folder, join(import.meta.dirname, '../../device/bin'), process.env.PATH ?? ''];
      const set = ['install', ...allow].map((name) => `fleet.allow=${name}`);
      return Promise.resolve({ set, env: { PATH: path.join(delimiter) } });
    },
    (...shared) => ([server, on] = shared),
  );
const writeLog = (log: string): Promise<void> => writeFile(join(folder, 'log'), log);
const reboots = async (): Promise<number> => {
  const text = await readFile(join(on.device.root, 'reboots'), 'utf8').catch(() => '');
  return text.split('\n').length - 1;
};
const actions = (): string => join(on.device.root, 'etc/depotd/fleet/actions');
/** The daemon goes down with the device, and comes up in another boot. */
const restart = async (): Promise<void> => {
  await on.daemon.kill('SIGKILL');
  for (const name of await readdir(actions())) await asOfAnotherBoot(join(actions(), name));
  await asOfAnotherBoot(join(on.device.root, 'etc/depotd/jobs.jsonl'));
  await on.daemon.restart();
};
const REBOOT = planOf({ version: 1, reboot: true });
const COLLECT = planOf({ version: 1, collect: ['log', 'doctor', 'jobs', 'status'] });

/** A program that counts restarts. */
const writeReboot = async (): Promise<void> => {
  await rm(join(on.device.root, 'reboots'), { force: true });
  await mkdir(join(on.device.root, 'sbin'), { recursive: true });
  const reboot = join(on.device.root, 'sbin/reboot');
  await writeFile(reboot, `#!/bin/sh\necho once >> ${on.device.root}/reboots\n`);
  await chmod(reboot, 0o755);
};

shareDeviceThatMay('collect', 'reboot');
beforeEach(writeReboot);
afterAll(() => rm(folder, { recursive: true }));

test('log, doctor, tasks and status come with the end, in pieces that the server takes', async () => {
  const log = Array.from({ length: 150 }, (_, line) => `daemon.info line ${line} <b>`).join('\n');
  await writeLog(log);
  await on.over(await on.rollOut(moduleOf(ipk('one'))));

  const { status, messages } = await on.over(await on.rollOut(COLLECT));

  expect(status).toBe('finished');
  const text = messages.join('\n');
  expect(messages).toContain('log 1/4');
  expect(text).toContain('daemon.info line 0 [b]');
  expect(text).toContain('daemon.info line 149 [b]');
  expect(text).toMatch(/\w+ feeds?[\w-]*: /);
  expect(text).toMatch(/done fleet .*, task [0-9a-f]{8}/);
  expect(text).toContain('package_manager=opkg');
  expect(messages.length).toBeLessThan(600);
});

test('a collection beside a set comes also if that fails, and its reason stays the last', async () => {
  await writeLog('the line before\n');

  const action = await on.rollOut(COLLECT, planOf({ version: 1, install: ['absent'] }));
  const { status, messages } = await on.over(action);

  expect(status).toBe('error');
  expect(messages).toContain('the line before');
  expect(messages.at(-1)).toContain('no feed of this device has it');
});

test('no token, cookie or password is in what is collected', async () => {
  const token = 'abcdef0123456789abcdef0123456789abcdef01';
  const secrets = [
    'hunter2',
    'tok-s3cret',
    'sid-4711',
    'psk-very-long',
    'me:word',
    'Zm9vOmJhcg==',
    token,
    'uci-p4ss',
    'jsonpass',
    'hunter3',
    'hkiG9w0',
  ];
  await writeLog(
    [
      'pppd: password=hunter2 user=me',
      'app: token: tok-s3cret, next',
      'uhttpd: Cookie: depotd_session=sid-4711; theme=dark',
      'hostapd: wpa_psk="psk-very-long"',
      'wget: https://me:word@example.org/list',
      'curl: authorization: Basic Zm9vOmJhcg==',
      `app: started with ${token}`,
      "uci: option password 'uci-p4ss'",
      'app: {"passwd":"jsonpass","a":1}',
      'app: the password hunter3 is wrong',
      'MIIEvQIBADANBgkq/hkiG9w0BAQEFAASC/BKcwggSjAgEAAoIBAQC7',
      'app: nothing to hide',
    ].join('\n'),
  );
  const own = await readFile(join(on.device.root, 'fleet-token'), 'utf8');

  const { messages } = await on.over(await on.rollOut(COLLECT));

  const text = messages.join('\n');
  expect(text).toContain('app: nothing to hide');
  expect([...secrets, own.trim()].filter((secret) => text.includes(secret))).toEqual([]);
});

test('what the server does not take for the moment is sent again, and what it has is not', async () => {
  await writeLog(Array.from({ length: 100 }, (_, line) => `line ${line}.`).join('\n'));
  let refused = 0;
  let posts = 0;
  server.intercept = (request, response) => {
    if (request.method !== 'POST' || refused > 0) return false;
    posts += 1;
    if (posts < 3) return false;
    refused += 1;
    response.writeHead(503).end();
    return true;
  };

  const { status, messages } = await on.over(await on.rollOut(COLLECT));

  expect([status, refused]).toEqual(['finished', 1]);
  expect(messages.filter((text) => text === 'line 3.')).toHaveLength(1);
  expect(messages.filter((text) => text === 'line 99.')).toHaveLength(1);
});

describe('a device without their words in fleet.allow', () => {
  shareDeviceThatMay();
  beforeEach(writeReboot);

  test.each([
    ['collect', COLLECT],
    ['reboot', REBOOT],
  ])('%s needs its word in fleet.allow', async (name, plan) => {
    await writeLog('a line\n');

    const { status, messages } = await on.over(await on.rollOut(plan));

    expect(status).toBe('error');
    expect(messages.join('\n')).toContain(`fleet.allow of this device does not have "${name}"`);
    expect(messages).not.toContain('a line');
    expect(await reboots()).toBe(0);
  });
});

test('a restart is the last of an action, and its end is reported after the boot', async () => {
  const action = await on.rollOut(moduleOf(ipk('one')), REBOOT);
  await expect.poll(async () => (await on.poll(), reboots()), { timeout: 30_000 }).toBe(1);
  expect(await on.device.database()).toHaveProperty('size', 2);
  expect((await server.action(on.id, action)).isActive).toBe(true);

  await restart();
  const { status, messages } = await on.over(action);

  expect(status).toBe('finished');
  expect(messages.at(-1)).toContain('the device has restarted');
  for (let polls = 0; polls < 3; polls += 1) await on.poll();
  expect(await reboots()).toBe(1);
});

test('a daemon that is killed at the restart does not restart the device again', async () => {
  await on.rollOut(REBOOT);
  await expect.poll(async () => (await on.poll(), reboots()), { timeout: 30_000 }).toBe(1);

  await on.daemon.kill('SIGKILL');
  await on.daemon.restart();
  for (let polls = 0; polls < 5; polls += 1) await on.poll();

  expect(await reboots()).toBe(1);
  await restart();
});

test('a device that loses all its records with the boot does not restart for ever', async () => {
  const action = await on.rollOut(REBOOT);
  await expect.poll(async () => (await on.poll(), reboots()), { timeout: 30_000 }).toBe(1);
  await on.daemon.kill('SIGKILL');
  await rm(join(on.device.root, 'etc/depotd'), { recursive: true });
  await on.daemon.restart();

  const { status, messages } = await on.over(action);

  expect(status).toBe('error');
  expect(messages.join('\n')).toContain('has lost its record');
  expect(await reboots()).toBe(1);
});

test('a device does not restart unless its server knows that it does', async () => {
  server.intercept = (request, response) => {
    if (request.method !== 'POST') return false;
    response.writeHead(503).end();
    return true;
  };
  const action = await on.rollOut(REBOOT);
  for (let polls = 0; polls < 10; polls += 1) await on.poll();
  expect(await reboots()).toBe(0);

  server.intercept = undefined;
  await expect.poll(async () => (await on.poll(), reboots()), { timeout: 30_000 }).toBe(1);
  expect((await server.action(on.id, action)).messages).toContain('the device restarts now');
  await restart();
});

test('a restart that fails is the failure of its action', async () => {
  await writeFile(join(on.device.root, 'sbin/reboot'), '#!/bin/sh\necho no way >&2\nexit 4\n');

  const { status, messages } = await on.over(await on.rollOut(REBOOT));

  expect(status).toBe('error');
  expect(messages.at(-1)).toBe('cannot restart the device: exit code 4 no way');
});
