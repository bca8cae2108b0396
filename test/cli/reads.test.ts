import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { simplePackage } from '../device/packages/package-parts.ts';
import { runDepotctl, shareClientTest, startClientTest } from './start-depotctl.ts';

describe('where nothing is installed', () => {
  const client = shareClientTest();

  test('nothing installed and no tasks are said on standard error', async () => {
    const { depotctl } = client();

    expect(await depotctl('list')).toEqual({
      code: 0,
      stdout: '',
      stderr: 'depotctl: no apps are installed\n',
    });
    expect(await depotctl('jobs')).toEqual({
      code: 0,
      stdout: '',
      stderr: 'depotctl: there are no tasks yet\n',
    });
    expect(await depotctl('log')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'depotctl: cannot find a task: there are none yet\n',
    });
  });

  test('token prints the token', async () => {
    const { depotctl, daemon } = client();

    expect((await depotctl('token')).stdout).toBe(`${await daemon.token()}\n`);
  });

  test('another base and a unix socket lead to the daemon as well', async () => {
    const { socketUrl, daemon } = client();

    expect((await runDepotctl('--url', socketUrl, 'token')).stdout).toBe(
      `${await daemon.token()}\n`,
    );
    expect(await runDepotctl('--url', daemon.url, '--base', '/elsewhere', 'list')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'depotctl: cannot find /elsewhere/admin/store/installed\n',
    });
  });

  test('doctor, device and version answer for people and for scripts', async () => {
    const { depotctl, daemon } = client();

    const doctor = await depotctl('doctor');
    expect(doctor.stdout).toMatch(/^STATE +CHECK +WHAT$/m);
    const answer = JSON.parse((await depotctl('doctor', '--json')).stdout) as {
      checks: { state: string }[];
    };
    expect(doctor.code).toBe(answer.checks.some(({ state }) => state === 'error') ? 1 : 0);
    expect((await depotctl('device')).stdout).toMatch(/^packages +opkg$/m);
    expect(JSON.parse((await depotctl('version', '--json')).stdout)).toEqual({
      depotctl: expect.any(String) as unknown,
      depotd: ((await (await daemon.get('admin/store/uid')).json()) as { version: string }).version,
    });
  });

  test('without lists nobody says that nothing can be upgraded', async () => {
    const { depotctl, device } = client();
    expect((await depotctl('list', '--upgradable')).stderr).toContain('nothing can be upgraded');
    await rm(join(device.root, 'var/opkg-lists/lab'));

    // A change of the lists is seen within a second.
    await expect
      .poll(async () => (await depotctl('list', '--upgradable')).stderr, { timeout: 10_000 })
      .toContain('there are no package lists');
    expect((await depotctl('list', '--upgradable')).code).toBe(1);
  });
});

describe('where apps are installed', () => {
  const client = shareClientTest({}, ({ depotctl }) => depotctl('install', 'notes', 'demo'));

  test('list shows the installed apps in columns, and with --json as the daemon answers', async () => {
    const { depotctl, daemon } = client();
    const table = await depotctl('list');

    expect(table.code).toBe(0);
    expect(table.stdout.split('\n').map((line) => line.split(/\s{2,}/))).toEqual([
      ['NAME', 'VERSION', 'INSTALLED', 'TITLE'],
      ['demo', '1.0-1', expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/), 'Demo'],
      ['notes', '1.0-1', expect.anything(), 'Notes'],
      [''],
    ]);
    expect(JSON.parse((await depotctl('list', '--json')).stdout)).toEqual(
      await (await daemon.get('admin/store/installed')).json(),
    );
  });

  test('status shows the fields of an app, of a package and of what is not there', async () => {
    const { depotctl } = client();
    expect((await depotctl('status', 'demo')).stdout).toMatch(
      /^name +demo\n[^]*\ninstalled +yes\n/,
    );
    expect((await depotctl('status', 'libdemo')).stdout).toMatch(
      /^name +libdemo\nversion +1\.0-1\ninstalled +yes\n$/,
    );
    expect(await depotctl('status', 'absent')).toEqual({
      code: 1,
      stdout: expect.stringMatching(/^name +absent\ninstalled +no\n$/) as string,
      stderr: '',
    });
    expect(JSON.parse((await depotctl('status', 'absent', '--json')).stdout)).toEqual({
      installed: false,
    });
  });
});

describe('after tasks', () => {
  const client = shareClientTest();

  test('jobs lists the tasks, newest first, and log takes the beginning of an id', async () => {
    const { depotctl, daemon } = client();
    const first = await daemon.submit('install', { package: 'tiny-01' });
    await daemon.finished(first);
    await daemon.finished(await daemon.submit('install', { package: 'badpost' }));

    const [headings, newest, oldest] = (await depotctl('jobs')).stdout.split('\n');
    const { stdout: log } = await depotctl('log', first.slice(0, 8));

    expect(headings).toMatch(/^TASK +STATE +STARTED +TOOK +COMMAND$/);
    expect(newest).toMatch(
      /^[0-9a-f]{8} {2}failed .* opkg install badpost {2}cannot install badpost/,
    );
    expect(oldest).toMatch(new RegExp(`^${first.slice(0, 8)} {2}done .* opkg install tiny-01$`));
    expect(log).toBe(await daemon.logOf(first));
  });

  test('why a task failed stands right behind its command, however long the commands of others are', async () => {
    const { depotctl, daemon } = client();
    await daemon.finished(await daemon.submit('install', { package: `long-${'x'.repeat(60)}` }));
    await daemon.finished(await daemon.submit('install', { package: 'badpost' }));

    const [, newest = ''] = (await depotctl('jobs')).stdout.split('\n');
    expect(newest).toContain('opkg install badpost  cannot install badpost');
  });
});

test('what is both app and package is found once: as the app, until the package alone is there', async () => {
  const packages = ['app-meta-both', 'both'].map((name) => simplePackage(name));
  const { depotctl, device } = await startClientTest({ packages });
  const found = async (): Promise<string> => (await depotctl('search', 'both')).stdout;

  expect(await found()).toMatch(/^NAME .*\nboth .*\n$/);
  await device.opkg('install', 'both');
  await expect.poll(found).toMatch(/^NAME .*\nboth +\S+ +installed .*\n$/);
});

test('advisories says how many of a file concern the device, be it one', async () => {
  const { depotctl, device } = await startClientTest();
  const file = join(device.root, 'advisories.json');
  const advisory = { id: 'X-1', affected: [{ package: { name: 'libc' }, versions: ['0'] }] };
  await writeFile(file, JSON.stringify(advisory));

  const { code, stderr } = await depotctl('advisories', file);

  expect([code, stderr]).toEqual([0, 'depotctl: advisories that concern this device: 0 of 1\n']);
});
