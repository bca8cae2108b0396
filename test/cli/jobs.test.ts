import { expect, test } from 'vitest';

import type { TaskStatus } from '../device/daemon.ts';
import { shareClientTest, startClientTest } from './start-depotctl.ts';

/** What a test has installed, no other one installs or looks for. */
const client = shareClientTest();

test('a failed task does not suggest the very name that it was about', async () => {
  const { depotctl } = client();

  const { stderr } = await depotctl('autoconf', 'demo-app');

  expect(stderr).toContain('→ Install the app first');
  expect(stderr).not.toContain('did you mean');
});

test('install follows the log to its end and says how the job ended', async () => {
  const { depotctl, daemon } = client();

  const { code, stdout, stderr } = await depotctl('install', 'demo');

  expect(code).toBe(0);
  expect(stdout).toContain('Configuring demo-app.\r\n');
  expect(stdout).toBe(await daemon.logOf('latest'));
  expect(stderr).toMatch(
    /^depotctl: opkg install app-meta-demo: done after \d+ s\ndepotctl: {3}→ its page on the device: \/cgi-bin\/luci\/\S+\n$/,
  );
});

test('a job that failed ends with 1, and so does the whole when others were done', async () => {
  const { depotctl } = client();

  const failed = await depotctl('install', 'badpost', 'tiny-01');

  expect(failed.code).toBe(1);
  expect(failed.stdout).toContain('badpost: cannot do it');
  expect(failed.stdout).toContain('Configuring tiny-01.');
  expect(failed.stderr).toMatch(
    /^depotctl: cannot install badpost: .* \(failed after \d+ s\)\ndepotctl: {3}→ /m,
  );
  expect(failed.stderr).toContain('tiny-01: done after');
});

test('a name that the daemon refuses is named, and the others are done', async () => {
  const { depotctl } = client();

  const { code, stdout, stderr } = await depotctl('install', '../etc', 'tiny-02');

  expect(code).toBe(1);
  expect(stderr).toContain('depotctl: install ../etc: cannot use the parameter package');
  expect(stdout).toContain('Configuring tiny-02.');
});

test('update, upgrade and remove do what they are called for', async () => {
  const { depotctl, device } = await startClientTest();
  await depotctl('install', 'demo');
  device.publish(2);

  const codes = [await depotctl('update'), await depotctl('upgrade', 'demo')].map(
    ({ code }) => code,
  );
  const upgraded = (await device.database()).get('demo-app')?.version;
  codes.push((await depotctl('remove', 'demo')).code);

  expect(codes).toEqual([0, 0, 0]);
  expect(upgraded).toBe('1.1-1');
  expect((await device.database()).has('demo-app')).toBe(false);
});

test('migrate asks for the folder, and tells why it cannot be', async () => {
  const { depotctl } = client();

  const { code, stderr } = await depotctl('migrate', '/mnt/disk');

  expect(code).toBe(1);
  expect(stderr).toContain('cannot move the container data to /mnt/disk: ');
  expect((await depotctl('migrate', '/mnt/disk', '--overwrite', 'yes')).code).toBe(2);
});

test('--autoconf, --path and --enable reach the script that configures the app', async () => {
  const { depotctl } = client();

  const { stdout } = await depotctl(
    'install',
    'demo',
    '--autoconf',
    '--path',
    '/mnt/data',
    '--enable',
    '0',
  );

  expect(stdout).toContain('ISTORE_CONF_DIR=/mnt/data/Configs');
  expect(stdout).toContain('ISTORE_DONT_START=1');
});

test('--detach prints the id of the task and does not wait for it', async () => {
  const { depotctl, daemon } = client();

  const { code, stdout } = await depotctl('install', 'demo', '--detach');

  expect(code).toBe(0);
  expect(stdout).toMatch(/^[0-9a-f]{32}\n$/);
  expect((await daemon.finished(stdout.trim())).state).toBe('done');
});

test('--json prints how each job ended, and no log', async () => {
  const { depotctl } = client();

  const { code, stdout } = await depotctl('--json', 'install', 'badpost', 'tiny-03');

  const ends = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as TaskStatus);
  expect(code).toBe(1);
  expect(ends.map(({ package: name, state }) => `${name} ${state}`)).toEqual([
    'badpost failed',
    'tiny-03 done',
  ]);
});

test('stop stops a running job; the one who follows it ends with 1', async () => {
  const { depotctl, start } = await startClientTest();
  const install = start('install', 'slow');
  await install.printed('slow: postinst begin');

  const stopped = await depotctl('stop', 'latest');

  expect(stopped.code).toBe(0);
  expect(stopped.stderr).toContain('asked to stop');
  const { code, stderr } = await install.outcome;
  expect(code).toBe(1);
  expect(stderr).toContain('stopped on request');
  expect((await depotctl('stop', 'latest')).stderr).toContain('has ended already: stopped');
});
