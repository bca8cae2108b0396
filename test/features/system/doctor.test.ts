import { utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';

import { loadConfig } from '../../../src/config/config.ts';
import type { Finding } from '../../../src/features/device-check.ts';
import { judgeFeeds } from '../../../src/features/feeds/checks.ts';
import type { FeedItem } from '../../../src/features/feeds/documentation.ts';
import { loginChecks } from '../../../src/features/login/checks.ts';
import { judgeKernel, judgePackages } from '../../../src/features/packages/checks.ts';
import type { InstalledPackage } from '../../../src/package-management/database.ts';
import { clockCheck } from '../../../src/features/system/checks/clock.ts';
import { listenersCheck } from '../../../src/features/system/checks/listeners.ts';
import { toolsCheck } from '../../../src/features/system/checks/tools.ts';
import { runChecks, type CheckResult } from '../../../src/features/system/doctor.ts';
import { startDaemon, type TestDaemon } from '../../device/daemon.ts';
import { createDevice, type Device } from '../../device/device.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

let folder: string;
beforeEach(async () => (folder = await temporaryFolder()));

describe('checks', () => {
  const good = {
    id: 'good',
    run: () => Promise.resolve<Finding>({ state: 'ok', message: 'fine' }),
  };

  test('one that fails is a warning, and the others are answered', async () => {
    const bad = { id: 'bad', run: () => Promise.reject(new Error('no disk')) };
    const thrown = {
      id: 'thrown',
      run: () => {
        throw new Error('at once');
      },
    };
    expect(await runChecks([bad, thrown, good])).toMatchObject([
      { id: 'bad', state: 'warning', message: 'this could not be checked: no disk' },
      { id: 'thrown', state: 'warning', message: 'this could not be checked: at once' },
      { id: 'good', state: 'ok' },
    ]);
  });

  test('one that never answers is a warning when the time is over', async () => {
    const silent = { id: 'silent', run: () => new Promise<Finding>(() => undefined) };
    expect(await runChecks([silent, good], 20)).toMatchObject([
      { id: 'silent', state: 'warning', message: 'this could not be checked within 20 ms' },
      { id: 'good', state: 'ok', message: 'fine' },
    ]);
  });
});

describe('the clock', () => {
  const written = new Date('2026-05-01T00:00:00Z');
  beforeEach(async () => {
    await writeFile(join(folder, 'newest'), '');
    await utimes(join(folder, 'newest'), written, written);
  });

  test.each([
    ['1970-01-01T00:00:10Z', 'error', 'long ago'],
    ['2026-04-01T00:00:00Z', 'warning', 'newest was written at 2026-05-01'],
    ['2026-04-30T23:59:30Z', 'ok', 'says 2026-04-30 23:59:30 UTC'],
    ['2026-06-01T00:00:00Z', 'ok', 'says 2026-06-01 00:00:00 UTC'],
  ])('at %s it is %s', async (now, state, message) => {
    const finding = await clockCheck([folder], () => Date.parse(now)).run();
    expect(finding.state).toBe(state);
    expect(finding.message).toContain(message);
  });
});

describe('feeds', () => {
  const feed = (packages: number): FeedItem => ({
    ...{ name: 'base', url: 'http://feed.example', kind: 'system', enabled: true },
    ...{ updated_at: 1_700_000_000, packages },
  });
  const judge = (...counts: number[]): Finding =>
    judgeFeeds({ feeds: counts.map(feed), keys: [], problems: [] });

  test('lists that name no package at all are a warning, and one of several is none', () => {
    expect(judge(0, 0)).toMatchObject({ state: 'warning' });
    expect(judge(0, 0).message).toContain('no package');
    expect(judge(0, 3)).toMatchObject({ state: 'ok' });
  });
});

describe('listeners', () => {
  test.each([
    [['main.listen=127.0.0.1:8728'], 'ok', "with log-in by the panel's session"],
    [['main.listen=unix:/run/depotd.sock', 'main.auth=none'], 'ok', 'without log-in'],
    [['main.listen=127.0.0.1:8728', 'main.auth=none'], 'warning', 'every program on this device'],
    [
      ['main.listen=127.0.0.1:1', 'main.listen=0.0.0.0:8728', 'main.auth=password'],
      'warning',
      '0.0.0.0:8728 can be reached from the network by plain HTTP',
    ],
    [['main.listen=[::]:8728'], 'warning', '[::]:8728 can be reached'],
  ])('%j is %s', async (overrides, state, message) => {
    const config = loadConfig({ file: '/dev/null', overrides });
    const finding = await listenersCheck(config).run();
    expect(finding.state).toBe(state);
    expect(finding.message).toContain(message);
  });
});

test('a program that is missing is named with what does not work without it', async () => {
  for (const name of ['lsblk', 'blkid', 'script', 'flock', 'wget', 'tar']) {
    await writeFile(join(folder, name), '', { mode: 0o755 });
  }
  expect(await toolsCheck(folder).run()).toEqual({
    state: 'warning',
    message: 'without rsync: the data of containers cannot be moved',
    remedy: 'install rsync',
  });
  await writeFile(join(folder, 'rsync'), '', { mode: 0o755 });
  expect((await toolsCheck(folder).run()).state).toBe('ok');
});

describe('kernel modules', () => {
  test.each([
    ['6.6.110', ['6.6.110-r1', '6.6.110.2025.02.14~e5fef138-r1'], 'ok'],
    ['5.15.134', ['5.15.134-1', '5.15.134+2023.1-4'], 'ok'],
    ['6.6.11', ['6.6.110-r1'], 'error'],
    ['6.6.119', ['6.6.110-r1', '6.6.119-r1'], 'error'],
    ['6.6.119', [], 'skipped'],
    [undefined, ['6.6.110-r1'], 'skipped'],
  ])('with the kernel %s, packages of %j are %s', (running, versions, state) => {
    const database = new Map(
      versions.map((version, index) => [
        `kmod-${index}`,
        packageOf(`kmod-${index}`, 'installed', version),
      ]),
    );
    expect(judgeKernel(running, database).state).toBe(state);
  });

  test('are named where another kernel than the device\u2019s runs', () => {
    const database = new Map([['kmod-x', packageOf('kmod-x', 'installed')]]);
    expect(judgeKernel(undefined, database)).toMatchObject({
      state: 'skipped',
      message: expect.stringContaining('1 packages of kernel modules are there') as string,
    });
  });
});

test.each([
  ['installed', 'ok'],
  ['not-installed', 'ok'],
  ['requested', 'ok'],
  ['unpacked', 'warning'],
  ['half-installed', 'warning'],
])('a package that is %s is %s', (state, expected) => {
  expect(judgePackages(new Map([['x', packageOf('x', state)]])).state).toBe(expected);
});

test.each([
  ['root::0:0:99999:7:::\n', 'error'],
  ['root:$1$abc:0:0:99999:7:::\n', 'ok'],
  ['root:!:0:0:99999:7:::\ndaemon::0:0:99999:7:::\n', 'ok'],
])('with %j in shadow the password is %s', async (shadow, state) => {
  await writeFile(join(folder, 'shadow'), shadow);
  const [check] = loginChecks({
    auth: 'panel',
    paths: { onDevice: () => join(folder, 'shadow') },
    ownPassword: {
      password: { isSet: () => Promise.resolve(true) },
      firstPassword: { file: '' },
    },
  });
  expect((await check?.run())?.state).toBe(state);
});

describe('a device with a daemon', () => {
  let device: Device;
  let daemon: TestDaemon;
  beforeAll(async () => {
    device = await createDevice();
    daemon = await startDaemon(device);
  });
  afterAll(async () => {
    await daemon.close();
    await device.close();
  });

  test('GET doctor answers on a quiet device within a second, and has nothing to complain of but the test', async () => {
    // Until the device is quiet, should other tests be at work on it.
    const checks = await vi.waitFor(
      async () => {
        const before = performance.now();
        const found = await examine(daemon);
        expect(performance.now() - before).toBeLessThan(1000);
        expect(JSON.stringify(found)).not.toContain('could not be checked within');
        return found;
      },
      { timeout: 30_000 },
    );
    expect(stateOf(checks, 'package-database')).toBe('ok');
    expect(stateOf(checks, 'broken-packages')).toBe('ok');
    expect(stateOf(checks, 'package-lock')).toBe('ok');
    expect(stateOf(checks, 'records')).toBe('ok');
    expect(stateOf(checks, 'clock')).toBe('ok');
    expect(stateOf(checks, 'kernel')).toBe('skipped');
    expect(stateOf(checks, 'forge')).toBe('skipped');
    expect(stateOf(checks, 'password')).toBe('skipped');
    expect(checks.some(({ state }) => state === 'error')).toBe(false);
    expect(new Set(checks.map(({ id }) => id)).size).toBe(checks.length);
  });

  test('GET device answers with the package manager and the daemon', async () => {
    const answer = await daemon.get('admin/system/device');

    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({
      release: 'OpenWrt 22.03.7',
      architecture: 'x86_64',
      package_manager: 'opkg',
      depotd: expect.stringMatching(/^\d+\.\d+\.\d+/) as unknown,
    });
  });

  test('every complaint has a remedy', async () => {
    await writeFile(join(device.root, 'usr/lib/opkg/status'), 'Package: libc\nVersion: 1');
    const checks = await examine(daemon);

    expect(stateOf(checks, 'package-database')).toBe('error');
    const complaints = checks.filter(({ state }) => state === 'warning' || state === 'error');
    expect(complaints.filter(({ remedy }) => remedy === undefined)).toEqual([]);
  });

  test('whoever holds the lock of opkg is named', async () => {
    device.feed.misbehave('Packages.gz', 'stalled');
    const opkg = device.startOpkg('update');
    try {
      await expect
        .poll(async () => (await examine(daemon)).find(({ id }) => id === 'package-lock'), {
          timeout: 10_000,
        })
        .toMatchObject({
          state: 'warning',
          message: expect.stringContaining('opkg.lock') as string,
        });
    } finally {
      device.feed.behave();
      opkg.signal('SIGKILL');
      await opkg.exit;
    }
  });
});

function packageOf(name: string, state: string, version = '1'): InstalledPackage {
  return {
    name,
    version,
    state,
    architecture: 'all',
    isAuto: false,
    isEssential: false,
    depends: [],
    provides: [],
    installedAt: 0,
  };
}

async function examine(daemon: TestDaemon): Promise<CheckResult[]> {
  const answer = await daemon.get('admin/system/doctor');
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { checks: CheckResult[] }).checks;
}

function stateOf(checks: readonly CheckResult[], id: string): string | undefined {
  return checks.find((check) => check.id === id)?.state;
}
