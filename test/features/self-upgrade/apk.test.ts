import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import type { ApkDevice } from '../../device/apk-device/apk-device.ts';
import { runCommand } from '../../device/command.ts';
import { createApkStoreDevice, type StoreDevice } from './self-upgrade-device.ts';
import { putAnew } from '../../package-management/apk/put-anew.ts';
import { exists } from '../uploads/upload-device.ts';

let on: StoreDevice<ApkDevice>;
let folder: string;
beforeEach(async () => {
  on = await createApkStoreDevice();
  folder = join(on.device.root, 'etc/depotd/self-upgrade');
});
afterEach(() => on.close());

const BASE = ['base-files', 'busybox', 'libc'];

/** Nothing is pinned, nothing of the base system is gone, no file differs from its record. */
async function expectOrder(version: string): Promise<void> {
  expect(await on.version()).toBe(version);
  expect(await on.device.world()).toEqual([...BASE, 'depotd'].toSorted());
  expect([...(await on.device.database()).keys()].toSorted()).toEqual(
    [...BASE, 'depotd'].toSorted(),
  );
  expect((await on.device.apk('audit', '--system')).stdout).toBe('');
  expect(await exists(folder)).toBe(false);
}

test('a good version takes over, and its daemon tells of the job from beginning to end', async () => {
  await on.offer('2.0-1', 'good');
  expect(await on.get('store/check_self_upgrade')).toEqual({ code: 200, msg: '2.0-r1' });
  const { task_id: id = '' } = await on.post('do_self_upgrade');

  expect(await on.finished(id)).toMatchObject({ state: 'done', exit_code: 0 });
  expect(await on.logOf(id)).toMatch(/Upgrading depotd[^]*depotd: depotd 2\.0-r1 answers/);
  await expectOrder('2.0-r1');
});

test.each(['exits', 'mute'] as const)(
  'a version that %s is replaced by the old one, unpinned, the configuration as it was',
  async (behaviour) => {
    await writeFile(join(on.device.root, 'etc/config/depotd'), '# mine\n');
    await on.offer('2.0-1', behaviour);
    const { task_id: id = '' } = await on.post('do_self_upgrade');

    expect(await on.finished(id)).toMatchObject({
      state: 'failed',
      exit_code: 4,
      error: expect.stringContaining('the old one is put back') as string,
    });
    expect(await on.version()).toBe('1.0-r1');
    expect([
      await on.device.read('usr/share/depotd/1.0-1'),
      await on.device.read('usr/share/depotd/2.0-1'),
      await on.device.read('etc/config/depotd'),
    ]).toEqual(['1.0-1', undefined, '# mine\n']);
    expect(await on.device.world()).toContain('depotd');
    expect(await exists(folder)).toBe(false);
  },
);

test('a daemon that is killed and started again in the middle of it takes the job up', async () => {
  await on.offer('2.0-1', 'slow and good');
  const { task_id: id = '' } = await on.post('do_self_upgrade');
  await expect.poll(() => on.logOf(id), { timeout: 20_000 }).toContain('preinst begins');
  await on.restartDaemon();

  expect(await on.finished(id)).toMatchObject({ state: 'done', exit_code: 0 });
  await expectOrder('2.0-r1');
});

test.each([
  ['', []],
  [' and left apk’s records as zeros', ['etc/apk/world', 'lib/apk/db/installed']],
])(
  'after a power cut in the middle of it%s the boot puts the old version back, whole',
  async (_, lost) => {
    await on.offer('2.0-1', 'slow to install');
    const { task_id: id = '' } = await on.post('do_self_upgrade');
    await expect.poll(() => on.logOf(id), { timeout: 20_000 }).toContain('preinst begins');
    await on.powerCut(id);
    const program = join(on.device.root, 'usr/bin/depotd');
    await writeFile(program, '#!/bin/sh\nexit 1\n');
    for (const file of lost) await putAnew(join(on.device.root, file), Buffer.alloc(64));

    const { code } = await runCommand(['sh', join(folder, 'watch.sh'), 'boot'], {
      env: on.device.env,
    });

    expect(code).toBe(3);
    expect(await on.device.read('usr/bin/depotd')).toContain('start.cjs');
    expect((await on.finished(id)).state).toBe('failed');
    await expectOrder('1.0-r1');
  },
);

const DAMAGE: [string, string | undefined][] = [
  ['is empty', ''],
  ['is gone', undefined],
  ['has a line that is none', 'base-files\nbusybox\ndepotd\nlibc\n<<<\n'],
  ['lacks the base system', 'depotd\n'],
  ['lost depotd', 'base-files\nbusybox\nlibc\n'],
  ['has a name twice', 'base-files\nbusybox\ndepotd\ndepotd\nlibc\n'],
  ['has a name that no feed has', 'base-files\nbusybox\ndepotd\nlibc\nunheard-of\n'],
];
test.each(DAMAGE)(
  'a world that %s: the system stays, and depotd is a whole version',
  async (_, text) => {
    await on.offer('2.0-1', 'good');
    const world = join(on.device.root, 'etc/apk/world');
    if (text === undefined) await rm(world);
    else await writeFile(world, text);

    const answer = await on.post('do_self_upgrade');
    const job = answer.task_id === undefined ? undefined : await on.finished(answer.task_id);

    expect(await on.version()).toBe(job?.state === 'done' ? '2.0-r1' : '1.0-r1');
    expect([...(await on.device.database()).keys()]).toEqual(
      expect.arrayContaining([...BASE, 'depotd']),
    );
    expect((await on.device.apk('audit', '--system')).stdout).toBe('');
  },
);
