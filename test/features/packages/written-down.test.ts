import {
  chmod,
  mkdir,
  readdir,
  readFile,
  rm,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { delimiter, dirname, join, relative } from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { startDaemon, type TestDaemon } from '../../device/daemon.ts';
import { createDevice, type Device } from '../../device/device.ts';
import { asOfAnotherBoot } from '../../support/power-cut.ts';

/** A device whose `sync` takes as long as the file `hold` is there, and says what it is called for. */
let device: Device;
let daemon: TestDaemon;
let hold: string;
let failing: string;
let calls: () => Promise<string>;

beforeEach(async () => {
  device = await createDevice();
  const folder = join(device.root, '../own-bin');
  const log = join(folder, 'calls');
  hold = join(folder, 'hold');
  failing = join(folder, 'failing');
  calls = () => readFile(log, 'utf8').catch(() => '');
  await mkdir(folder);
  await writeFile(
    join(folder, 'sync'),
    `#!/bin/sh\necho "$@" >>'${log}'\nwhile [ -e '${hold}' ]; do sleep 0.05; done\n` +
      `[ ! -e '${failing}' ] || { echo 'sync: Input/output error' >&2; exit 1; }\n`,
  );
  await chmod(join(folder, 'sync'), 0o755);
  await device.opkg('update');
  await device.opkg('install', 'notes-app');
  const env = { ...device.env, PATH: [folder, device.path].join(delimiter) };
  daemon = await startDaemon({ root: device.root, env });
});

afterEach(async () => {
  await rm(hold, { force: true });
  await daemon.close();
  await device.close();
});

async function versionOf(name: string): Promise<string | undefined> {
  return (await device.database()).get(name)?.version;
}

test.each(['install', 'remove'])('an %s is done when it is on the disk', async (operation) => {
  const name = operation === 'install' ? 'libonce' : 'notes-app';
  if (operation === 'install') await device.opkg('remove', 'notes-app', '--force-depends');
  await writeFile(hold, '');
  const task = await daemon.submit(operation, { package: operation === 'install' ? 'demo' : name });
  await expect.poll(calls).toContain(`-f ${device.root}`);

  expect(await daemon.status(task)).toMatchObject({ running: true });
  await rm(hold);
  expect(await daemon.finished(task)).toMatchObject({ state: 'done' });
});

test('after a power cut before all of an upgrade was written the version before is on record, and the upgrade can be done again', async () => {
  device.publish(2);
  await daemon.finished(await daemon.submit('update'));
  await writeFile(hold, '');
  const task = await daemon.submit('upgrade', { package: 'notes-app' });
  await expect.poll(calls).toContain('-f');
  expect(await versionOf('notes-app')).toBe('1.1-1');
  await daemon.kill('SIGKILL');
  await rm(hold);
  await asOfAnotherBoot(join(device.root, 'etc/depotd/jobs.jsonl'));

  await daemon.restart();

  expect(await daemon.finished(task)).toMatchObject({ state: 'interrupted' });
  expect(await daemon.logOf(task)).toContain('the record of opkg from before is put back');
  expect(await versionOf('notes-app')).toBe('1.0-1');
  expect(await daemon.logOf(task)).toContain(
    'notes-app has the files of another version than its record',
  );
  expect(await stateOf('notes-app')).toEqual(['error', true]);
  const again = await daemon.submit('upgrade', { package: 'notes-app' });
  expect(await daemon.finished(again)).toMatchObject({ state: 'done' });
  expect(await device.read('usr/bin/notes-app')).toContain('1.1-1');
  expect(await stateOf('notes-app')).toEqual(['ok', undefined]);
});

test('after a power cut before all of an install was written what others install ahead of the daemon stays', async () => {
  const task = await killInstall();
  await asOfAnotherBoot(join(device.root, 'etc/depotd/jobs.jsonl'));
  await device.opkg('install', 'tiny-01');

  await daemon.restart();

  expect(await daemon.finished(task)).toMatchObject({ state: 'interrupted' });
  expect([await versionOf('notes-app'), await versionOf('tiny-01')]).toEqual([undefined, '1.0-1']);
  expect(await device.read('usr/bin/tiny-01')).toBeDefined();
});

test('what others install then stays with all that it needs, the cut-off install’s own, too', async () => {
  device.feed.publish([
    {
      name: 'shared',
      version: '1.0-1',
      architecture: 'all',
      files: { '/usr/bin/shared': { content: 's' } },
    },
    { name: 'mine', version: '1.0-1', architecture: 'all', fields: { Depends: 'shared' } },
    { name: 'theirs', version: '1.0-1', architecture: 'all', fields: { Depends: 'shared' } },
  ]);
  await device.opkg('update');
  await writeFile(hold, '');
  const task = await daemon.submit('install', { package: 'mine' });
  await expect.poll(calls).toContain('-f');
  await daemon.kill('SIGKILL');
  await rm(hold);
  await asOfAnotherBoot(join(device.root, 'etc/depotd/jobs.jsonl'));
  await device.opkg('install', 'theirs');

  await daemon.restart();

  expect(await daemon.finished(task)).toMatchObject({ state: 'interrupted' });
  expect(await Promise.all(['mine', 'theirs', 'shared'].map(versionOf))).toEqual([
    undefined,
    '1.0-1',
    '1.0-1',
  ]);
  expect(await device.read('usr/bin/shared')).toBe('s');
});

test('an install that the disk did not get says so and is not done', async () => {
  await writeFile(failing, '');

  const task = await daemon.submit('install', { package: 'demo' });

  const { state, error } = await daemon.finished(task);
  expect(state).toBe('failed');
  expect(error).toContain('cannot write to the disk: sync: Input/output error');
});

test('an install is not done if sync cannot be started, and says so', async () => {
  const folder = join(device.root, '../without-sync');
  await mkdir(folder);
  for (const bin of ['/usr/sbin', '/usr/bin', '/sbin', '/bin', dirname(process.execPath)]) {
    for (const name of await readdir(bin)) {
      if (name === 'sync') continue;
      await symlink(join(bin, name), join(folder, name)).catch(() => undefined);
    }
  }
  const [own = ''] = device.path.split(delimiter);
  await daemon.close();
  daemon = await startDaemon({
    root: device.root,
    env: { ...device.env, PATH: [own, folder].join(delimiter) },
  });

  const task = await daemon.submit('install', { package: 'demo' });

  const { state, error } = await daemon.finished(task);
  expect(state).toBe('failed');
  expect(error).toMatch(/cannot write to the disk: .*sync.*ENOENT/);
});

/** The power goes in the middle of an upgrade, and empties a file of the package. */
async function cutUpgrade(name = 'notes-app', file = 'usr/bin/notes-app'): Promise<string> {
  device.publish(2);
  await daemon.finished(await daemon.submit('update'));
  await writeFile(hold, '');
  const task = await daemon.submit('upgrade', { package: name });
  await expect.poll(calls).toContain('-f');
  await daemon.kill('SIGKILL');
  await rm(hold);
  await truncate(join(device.root, file));
  await rm(join(device.root, 'var/opkg-lists'), { recursive: true, force: true });
  await asOfAnotherBoot(join(device.root, 'etc/depotd/jobs.jsonl'));
  return task;
}

test('a power cut in the middle of an upgrade that emptied files: the package is installed again', async () => {
  const task = await cutUpgrade();

  await daemon.restart();

  expect(await daemon.finished(task)).toMatchObject({ state: 'interrupted' });
  expect(await daemon.logOf(task)).toContain('the power cut damaged files of notes-app');
  expect(await device.read('usr/bin/notes-app')).toContain('1.1-1');
  expect(await versionOf('notes-app')).toBe('1.1-1');
  expect(await stateOf('notes-app')).toEqual(['ok', undefined]);
});

test('a configuration file that a power cut emptied comes back with its package', async () => {
  await device.opkg('install', 'demo-app');
  const task = await cutUpgrade('demo-app', 'etc/config/demo-app');

  await daemon.restart();

  expect(await daemon.finished(task)).toMatchObject({ state: 'interrupted' });
  expect(await device.read('etc/config/demo-app')).toContain("option ver '1.1-1'");
  expect(await readdir(join(device.root, 'etc/config'))).not.toContain('demo-app-opkg');
  expect(await stateOf('demo-app')).toEqual(['ok', undefined]);
});

test('without a network it stays damaged, and is said to be, until it is installed again', async () => {
  const task = await cutUpgrade();
  const conf = join(device.root, 'etc/opkg/distfeeds.conf');
  const feeds = await readFile(conf, 'utf8');
  await writeFile(conf, feeds.replace(/:\d+\//, ':1/'));
  await daemon.restart();

  expect(await daemon.finished(task)).toMatchObject({ state: 'interrupted' });
  expect(await daemon.logOf(task)).toContain('notes-app could not be installed again');
  expect(await stateOf('notes-app')).toEqual(['error', true]);
  await daemon.restart();
  expect(await stateOf('notes-app')).toEqual(['error', true]);

  await writeFile(conf, feeds);
  const again = await daemon.submit('upgrade', { package: 'notes-app' });
  expect(await daemon.finished(again)).toMatchObject({ state: 'done' });
  expect(await device.read('usr/bin/notes-app')).toContain('1.1-1');
  expect(await stateOf('notes-app')).toEqual(['ok', undefined]);
});

/** The daemon is killed before what opkg did has come to the disk. */
async function killInstall(): Promise<string> {
  await device.opkg('remove', 'notes-app');
  await writeFile(hold, '');
  const task = await daemon.submit('install', { package: 'notes-app' });
  await expect.poll(calls).toContain('-f');
  await daemon.kill('SIGKILL');
  await rm(hold);
  return task;
}

/** The power goes in the middle of an installation, and empties its records and files. */
async function cutInstall(): Promise<string> {
  const task = await killInstall();
  for (const file of ['info/notes-app.list', 'info/notes-app.control']) {
    await truncate(join(device.root, 'usr/lib/opkg', file));
  }
  await truncate(join(device.root, 'usr/bin/notes-app'));
  await rm(join(device.root, 'var/opkg-lists'), { recursive: true, force: true });
  await asOfAnotherBoot(join(device.root, 'etc/depotd/jobs.jsonl'));
  return task;
}

const ofNotes = async (): Promise<string[]> =>
  (await readdir(device.root, { recursive: true, withFileTypes: true }))
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => relative(device.root, join(parentPath, name)))
    .filter((path) => path.includes('notes-app'));

test('files of a cut-off install are removed, if the list of them was emptied, too', async () => {
  const task = await cutInstall();
  expect(await ofNotes()).toContain('usr/bin/notes-app');

  await daemon.restart();

  expect(await daemon.finished(task)).toMatchObject({ state: 'interrupted' });
  expect(await daemon.logOf(task)).toContain(
    'files of notes-app that are in no record are removed',
  );
  expect(await ofNotes()).toEqual([]);
});

test('if they cannot be known, the log says that they may be left', async () => {
  const task = await cutInstall();
  await device.feed.refuse();

  await daemon.restart();

  expect(await daemon.finished(task)).toMatchObject({ state: 'interrupted' });
  expect(await daemon.logOf(task)).toContain('files of notes-app may be left');
  await device.feed.listen();
});

/** What the doctor says of the packages, and the store of this one. */
async function stateOf(name: string): Promise<unknown[]> {
  const doctor = (await (await daemon.get('admin/system/doctor')).json()) as {
    checks: { id: string; state: string }[];
  };
  const details = (await (await daemon.get(`admin/store/details?package=${name}`)).json()) as {
    broken?: boolean;
  };
  return [doctor.checks.find(({ id }) => id === 'broken-packages')?.state, details.broken];
}
