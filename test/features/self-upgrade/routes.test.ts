import { spawn } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { startDaemon } from '../../device/daemon.ts';
import { runCommand, startCommand } from '../../device/command.ts';
import { createDevice } from '../../device/device.ts';
import { startLockHolder, type LockHolder } from '../../device/lock-holder.ts';
import { aroundTests } from '../../support/around-tests.ts';
import { asOfAnotherBoot } from '../../support/power-cut.ts';
import { createStoreDevice, type StoreDevice } from './self-upgrade-device.ts';
import { exists } from '../uploads/upload-device.ts';

let on: StoreDevice;

const nothingChanged = aroundTests(
  async () => {
    on = await createStoreDevice();
  },
  () => on.close(),
);

/** An upgrade that has come to the files. */
async function beginSlowly(): Promise<string> {
  await on.offer('2.0-1', 'slow to install');
  const { task_id: id = '' } = await on.post('do_self_upgrade');
  await expect.poll(() => on.logOf(id), { timeout: 20_000 }).toContain('preinst begins');
  return id;
}

async function cutMidway(): Promise<string> {
  const id = await beginSlowly();
  await on.powerCut(id);
  return id;
}

function watchAtBoot(): ReturnType<typeof runCommand> {
  const script = join(on.device.root, 'etc/depotd/self-upgrade/watch.sh');
  return runCommand(['sh', script, 'boot'], { env: on.device.env });
}

test('with nothing newer the answer says so, the daemon goes on, and what an earlier one left on flash is gone', async () => {
  await mkdir(join(on.device.root, 'etc/depotd/self-upgrade/old.ipk.work'), { recursive: true });
  expect(await on.post('do_self_upgrade')).toEqual({
    code: 1,
    stdout: '',
    stderr: 'cannot upgrade depotd: the lists offer no newer version',
  });
  expect(await exists(join(on.device.root, 'etc/depotd/self-upgrade'))).toBe(false);
  expect(await on.version()).toBe('1.0-1');
  nothingChanged();
});

test('check_self_upgrade names a newer version, and says when there is none', async () => {
  expect(await on.get('store/check_self_upgrade')).toEqual({ code: 304, msg: '' });
  await on.offer('0.9-1', 'good');
  expect(await on.get('store/check_self_upgrade')).toEqual({ code: 304, msg: '' });
  await on.offer('1.0-2', 'good');
  expect(await on.get('store/check_self_upgrade')).toEqual({ code: 200, msg: '1.0-2' });
});

test('a good version takes over, and its daemon tells of the job from beginning to end', async () => {
  await on.offer('2.0-1', 'good');
  const { task_id: id = '' } = await on.post('do_self_upgrade');

  expect(await on.finished(id)).toMatchObject({
    state: 'done',
    exit_code: 0,
    kind: 'self-upgrade',
  });
  expect(await on.version()).toBe('2.0-1');
  expect(await on.logOf(id)).toMatch(/Upgrading depotd[^]*depotd: depotd 2\.0-1 answers/);
  expect(await exists(join(on.device.root, 'etc/depotd/self-upgrade'))).toBe(false);
});

test.each(['exits', 'mute'] as const)(
  'a version that %s is replaced by the old one, with its files and the configuration as they were',
  async (behaviour) => {
    await writeFile(join(on.device.root, 'etc/config/depotd'), '# mine\n');
    await on.offer('2.0-1', behaviour);
    const { task_id: id = '' } = await on.post('do_self_upgrade');

    expect(await on.finished(id)).toMatchObject({
      state: 'failed',
      exit_code: 4,
      error: expect.stringContaining('the old one is put back') as string,
      no_undo: 'It changed nothing.',
    });
    expect(await on.version()).toBe('1.0-1');
    expect([
      await on.device.read('usr/share/depotd/1.0-1'),
      await on.device.read('usr/share/depotd/2.0-1'),
    ]).toEqual(['1.0-1', undefined]);
    expect(await on.device.read('etc/config/depotd')).toBe('# mine\n');
    expect(await on.logOf(id)).toContain('depotd 1.0-1 is back and answers');
    expect(await exists(join(on.device.root, 'etc/depotd/self-upgrade'))).toBe(false);
  },
);

test('after a power cut in between, the watcher that is called at boot puts the old version back', async () => {
  await on.offer('2.0-1', 'mute');
  const { task_id: id = '' } = await on.post('do_self_upgrade');
  await expect.poll(on.version, { timeout: 20_000 }).toBe('2.0-1');
  await on.powerCut(id);

  const folder = join(on.device.root, 'etc/depotd/self-upgrade');
  expect(await exists(join(folder, 'pending'))).toBe(true);
  const { code, stdout } = await watchAtBoot();
  expect({ code, stdout }).toEqual({
    code: 4,
    stdout: expect.stringContaining('depotd 1.0-1 is back and answers') as string,
  });
  expect(await exists(folder)).toBe(false);
  expect(await on.version()).toBe('1.0-1');
  expect((await on.finished(id)).state).toBe('failed');
});

test('after a power cut that left some files new and others old, the old ones are put back', async () => {
  const id = await cutMidway();
  const program = join(on.device.root, 'usr/bin/depotd');
  await writeFile(program, '#!/bin/sh\nexit 1\n');

  expect((await watchAtBoot()).code).toBe(3);
  expect(await on.version()).toBe('1.0-1');
  expect(await on.device.read('usr/bin/depotd')).toContain('start.cjs');
  expect((await on.finished(id)).state).toBe('failed');
});

test('after a power cut the old files are put back though somebody else has the lock at first', async () => {
  await cutMidway();
  await writeFile(join(on.device.root, 'usr/bin/depotd'), '#!/bin/sh\nexit 1\n');
  const other = await startLockHolder(on.device, { isBehindOpkg: true });

  const script = join(on.device.root, 'etc/depotd/self-upgrade/watch.sh');
  const watcher = startCommand(['sh', '-c', 'exec sh "$0" boot 2>&1', script], {
    env: on.device.env,
  });
  await watcher.printed('Could not lock');
  await other.release();

  expect(await watcher.exit).toBe(3);
  expect(await on.device.read('usr/bin/depotd')).toContain('start.cjs');
});

test('after a power cut in the midst of the files, the old ones are put back though the new daemon answers', async () => {
  await cutMidway();
  // As opkg leaves it: the list of files is gone, the files are new, the status file tells of the
  // old version. The daemon that runs answers well.
  await rm(join(on.device.root, 'usr/lib/opkg/info/depotd.list'));
  await rm(join(on.device.root, 'usr/share/depotd/1.0-1'));
  const daemon = spawn(join(on.device.root, 'usr/bin/depotd'), {
    env: on.device.env,
    stdio: 'ignore',
    detached: true,
  });

  const { code } = await watchAtBoot();
  daemon.kill('SIGKILL');
  // 0 if the daemon has called the watcher before: of two, one waits, and finds nothing to do.
  expect([0, 3]).toContain(code);
  expect(await on.device.read('usr/lib/opkg/info/depotd.list')).toContain(
    '/usr/share/depotd/1.0-1\n',
  );
  expect(await on.device.read('usr/share/depotd/1.0-1')).toBe('1.0-1');
});

test('after a power cut in the midst of the status file, its copy and the old version come back', async () => {
  await cutMidway();
  await writeFile(join(on.device.root, 'usr/lib/opkg/status'), 'Package: li');

  expect((await watchAtBoot()).code).toBe(3);
  expect(await on.version()).toBe('1.0-1');
});

test('the old version is put back though somebody else has the lock at that moment', async () => {
  await on.offer('2.0-1', 'exits');
  const { task_id: id = '' } = await on.post('do_self_upgrade');
  await expect.poll(on.version, { timeout: 20_000 }).toBe('2.0-1');
  // The version is on record a moment before opkg lets its lock go.
  let holder: LockHolder | undefined;
  const hold = async (): Promise<LockHolder | undefined> =>
    (holder ??= await startLockHolder(on.device).catch(() => undefined));
  await expect.poll(hold, { timeout: 10_000 }).toBeDefined();
  await expect.poll(() => readLog(id), { timeout: 30_000 }).toContain('1.0-1 is put back');
  await expect.poll(() => readLog(id), { timeout: 10_000 }).toContain('Could not lock');
  await holder?.release();

  expect(await on.finished(id)).toMatchObject({ state: 'failed', exit_code: 4 });
  expect(await on.version()).toBe('1.0-1');
});

test('a watcher that is killed is called again, and leaves no half of a version', async () => {
  const id = await beginSlowly();
  // As opkg leaves it in the midst of the files.
  await rm(join(on.device.root, 'usr/lib/opkg/info/depotd.list'));
  await rm(join(on.device.root, 'usr/share/depotd/1.0-1'));
  await on.killWatcher();

  expect((await on.finished(id)).state).toBe('failed');
  expect(await on.version()).toBe('1.0-1');
  expect(await on.device.read('usr/share/depotd/1.0-1')).toBe('1.0-1');
  expect(await exists(join(on.device.root, 'etc/depotd/self-upgrade'))).toBe(false);
});

test('a power cut behind the upgrade leaves it done if the watcher at boot finds that it answers', async () => {
  await on.offer('2.0-1', 'good');
  const { task_id: id = '' } = await on.post('do_self_upgrade');
  await expect.poll(on.version, { timeout: 20_000 }).toBe('2.0-1');
  await on.powerCut(id);
  await asOfAnotherBoot(join(on.device.root, 'etc/depotd/jobs.jsonl'));
  const program = join(on.device.root, 'usr/bin/depotd');
  const daemon = spawn(program, { env: on.device.env, stdio: 'ignore' });
  onTestFinished(() => void daemon.kill('SIGKILL'));
  expect((await watchAtBoot()).code).toBe(0);

  expect(await on.finished(id)).toMatchObject({ state: 'done', exit_code: 0 });
  expect(await on.version()).toBe('2.0-1');
});

test('a store that is no package says why it cannot tell, and upgrades nothing', async () => {
  const device = await createDevice();
  const daemon = await startDaemon(device);
  const answer = await daemon.get('admin/store/check_self_upgrade');
  expect([answer.status, await answer.json()]).toEqual([
    200,
    { code: 500, msg: 'cannot tell of an upgrade: depotd is not installed as a package' },
  ]);
  const upgrade = await daemon.post('admin/store/do_self_upgrade', {});
  expect([upgrade.status, await upgrade.json()]).toEqual([
    200,
    {
      code: 1,
      stdout: '',
      stderr: 'cannot tell of an upgrade: depotd is not installed as a package',
    },
  ]);
  await daemon.close();
  await device.close();
});

/** From the disk: no daemon is there to be asked. */
function readLog(id: string): Promise<string> {
  return readFile(join(on.device.root, `var/log/depotd/${id}.log`), 'utf8').catch(() => '');
}
