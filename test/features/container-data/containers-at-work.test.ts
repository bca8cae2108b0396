import { mkdir, readdir, readlink } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { canLoop, command } from '../../support/loop-disks.ts';
import { createEngineDevice, shellImage, type EngineDevice } from './engine-device.ts';

/** A real engine is root's to start, too. */
const isPossible = await canLoop(['dockerd', 'rsync', 'busybox', 'mkfs.ext4']);
let on: EngineDevice;
let here = '';

beforeAll(async () => {
  if (!isPossible) return;
  on = await createEngineDevice();
  here = on.at('mnt/one/docker');
  await on.engine.importImage(await shellImage(on.folder), 'shell');
});

afterAll(async () => {
  if (isPossible) await on.close();
});

afterEach(async () => {
  if (!isPossible) return;
  await on.wrap('rsync', undefined);
  for (const name of await on.engine.running()) await on.engine.remove(name);
});

/** When it is to end it puts a link, and a whiteout, in the place of folders that were copied. */
const REPLACING = `mkdir -p /files/current/deep && echo >/files/current/deep/file && echo >/layer/folder/more
trap 'rm -r /files/current && mkdir /files/release && ln -s release /files/current; rm -r /layer/folder; exit' TERM
sleep 3600 & wait`;

const WAITING = 'trap exit TERM; sleep 3600 & wait';

/** Goes down from folder to folder: no path is too long for that. */
const DEEPER = `cd /files && name=$(printf '%200s' | tr ' ' d)
for n in $(seq 25); do mkdir "$name" && cd -P "$name" || exit; done
echo >/files/made; ${WAITING}`;

describe.skipIf(!isPossible)('whatever containers do', () => {
  test('one that replaces folders by something else while it is stopped cannot make a move fail', async () => {
    const target = there('replaced');
    await on.engine.run('shell', { name: 'replacing', script: REPLACING, binds: ['files:/files'] });
    await expect.poll(() => readdir(filesIn(here))).toContain('current');

    expect(await on.move(target)).toMatchObject({ state: 'done' });

    here = target;
    expect(await on.engine.dataRoot()).toBe(target);
    expect(await on.engine.running()).toEqual(['replacing']);
    expect(await readlink(`${filesIn(target)}/current`)).toBe('release');
  });

  test('a path that is too long to be copied is told before anything is done', async () => {
    const target = there('deep');
    await on.engine.run('shell', { name: 'deeper', script: DEEPER, binds: ['deep:/files'] });
    await expect.poll(() => readdir(`${here}/volumes/deep/_data`)).toContain('made');
    const pid = await on.enginePid();

    expect((await on.move(target)).error).toContain(
      `a path in ${here} has more than 4095 bytes, which cannot be copied: volumes/deep/`,
    );

    expect(await on.enginePid()).toBe(pid);
    expect(await on.engine.running()).toEqual(['deeper']);
    expect(await readdir(there(''))).not.toContain('deep');
    await command('rm', ['-rf', `${here}/volumes/deep/_data`]);
    await mkdir(`${here}/volumes/deep/_data`);
  });

  test('a path that gets too long while they are copied is told before the engine is stopped', async () => {
    const target = there('deepening');
    await on.engine.run('shell', { name: 'quiet', script: WAITING });
    const pid = await on.enginePid();
    // As a container would, when the check has been passed.
    const rsync = `[ "$1" = --version ] || { cd '${filesIn(here)}'; mkdir -p many; cd many; name=$(printf '%200s' | tr ' ' d); for n in $(seq 25); do mkdir "$name"; cd -P "$name"; done; } 2>/dev/null; cd /`;
    await on.wrap('rsync', rsync);

    const failed = await on.move(target);
    await on.wrap('rsync', undefined);

    expect(failed).toMatchObject({
      state: 'failed',
      error: expect.stringMatching(
        /^cannot copy: a path in .* has more than 4095 bytes, which cannot be copied: volumes\/files\/_data\/many\/d+…$/,
      ) as string,
    });
    expect(await on.enginePid()).toBe(pid);
    await command('rm', ['-rf', `${filesIn(here)}/many`]);
  });

  test('they can be moved to another folder of the same disk, whose name is no plain one', async () => {
    const target = `${here.slice(0, here.lastIndexOf('/'))}/Bob's Größe 数据`;
    await on.engine.run('shell', { name: 'quiet', script: WAITING, binds: ['files:/files'] });

    expect(await on.move(target)).toMatchObject({ state: 'done' });

    here = target;
    expect(await on.engine.dataRoot()).toBe(target);
    expect(await on.engine.running()).toEqual(['quiet']);
  });
});

function there(name: string): string {
  return on.at(`mnt/${here.includes('/mnt/one/') ? 'two' : 'one'}/${name}`);
}

function filesIn(root: string): string {
  return `${root}/volumes/files/_data`;
}
