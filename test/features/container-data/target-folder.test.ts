import { chmod, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';

import * as moves from '../../../src/features/container-data/target-folder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const JOB = 'f'.repeat(32);
let root: string;
let target: string;
let source: string;

beforeEach(async () => {
  root = await temporaryFolder();
  [target, source] = [join(root, 'disk/target'), join(root, 'source')];
  await mkdir(source, { mode: 0o710 });
  await mkdir(join(target, 'lost+found'), { recursive: true });
  await chmod(target, 0o775);
  for (const name of ['mine', 'containers']) await writeFile(join(target, name), 'held before');
  await moves.prepare(target, JOB);
  for (const name of ['containers', 'volumes', 'image']) {
    await writeFile(inMove('new', name), 'copied');
  }
});
function inMove(...names: string[]): string {
  return join(target, '.depotd-move', ...names);
}

const visible = async (): Promise<string[]> =>
  (await readdir(target)).filter((name) => !name.startsWith('.')).sort();
const modeOf = async (): Promise<number> => (await stat(target)).mode & 0o777;

/** What a crash can leave, from the first rename to the last one. */
const BREAKS: [string, () => Promise<void>][] = [
  ['nothing was done', async () => undefined],
  [
    'some of the old is aside',
    async () => {
      await mkdir(inMove('old.part'), { mode: 0o775 });
      await chmod(inMove('old.part'), 0o775);
      await rename(join(target, 'mine'), inMove('old.part', 'mine'));
    },
  ],
  [
    'all of the old is aside',
    async () => {
      await BREAKS[1]?.[1]();
      await rename(join(target, 'containers'), inMove('old.part', 'containers'));
      await rename(inMove('old.part'), inMove('old'));
    },
  ],
  [
    'some of the copy is in place',
    async () => {
      await BREAKS[2]?.[1]();
      await rename(inMove('new', 'volumes'), join(target, 'volumes'));
    },
  ],
  ['all of it is', () => moves.place(target, source)],
];

describe.each(BREAKS)('when %s', (_, before) => {
  beforeEach(before);

  test('placing goes on from there', async () => {
    await moves.place(target, source);
    expect(await visible()).toEqual(['containers', 'image', 'lost+found', 'volumes']);
    expect((await readdir(inMove('old'))).sort()).toEqual(['containers', 'mine']);
    expect(await modeOf()).toBe(0o710);
  });

  test('taking back gives the target what it held, and keeps the copy', async () => {
    await moves.restore(target);
    expect(await visible()).toEqual(['containers', 'lost+found', 'mine']);
    expect((await readdir(inMove('new'))).sort()).toEqual(['containers', 'image', 'volumes']);
    expect(await modeOf()).toBe(0o775);
  });

  test('the next move finds the target as somebody left it', async () => {
    expect(await moves.inspect(target)).toEqual({ isEmpty: false, hasMove: true });
    await moves.prepare(target, 'e'.repeat(32));
    expect(await visible()).toEqual(['containers', 'lost+found', 'mine']);
    expect(await moves.isThere(target, JOB)).toBe(false);
  });
});

describe('a copy that an engine was pointed at', () => {
  const record = (...names: string[]): string => join(...names, 'containers/abc/config.v2.json');
  const others = async (): Promise<string[]> =>
    (await readdir(target)).filter((name) => name.startsWith('.depotd-left-'));

  beforeEach(async () => {
    await rm(inMove('new/containers'));
    await mkdir(inMove('new/containers/abc'), { recursive: true });
    await writeFile(record(inMove('new')), 'stopped');
    await moves.place(target, source);
    await moves.noteSwitch(target);
  });

  test('is for the next move where no container was started', async () => {
    expect(await moves.prepare(target, JOB)).toMatchObject({ left: undefined });
    expect(await readFile(record(inMove('new')), 'utf8')).toBe('stopped');
    await writeFile(record(inMove('new')), 'copied again');
    expect(await moves.restore(target)).toBe(undefined);
    expect(await others()).toEqual([]);
  });

  test.each([
    ['one was, whatever the engine said', () => writeFile(record(target), 'started')],
    ['the engine had answered', () => moves.noteRun(target, JOB)],
  ])('is set apart and told where %s', async (_, work) => {
    await work();
    const { left = '' } = await moves.prepare(target, JOB);
    expect([left]).toEqual((await others()).map((name) => join(target, name)));
    expect((await readdir(join(left, 'new'))).sort()).toEqual(['containers', 'image', 'volumes']);
    expect(await readdir(inMove('new'))).toEqual([]);
  });
});

test('a new disk with nothing but what mke2fs makes is empty, also when a move that broke off has put its copy there', async () => {
  await rm(join(target, 'mine'));
  await rm(join(target, 'containers'));
  expect(await moves.inspect(target)).toEqual({ isEmpty: true, hasMove: true });
  await moves.place(target, source);
  expect(await moves.inspect(target)).toEqual({ isEmpty: true, hasMove: true });
});

test('without its disk nothing is made, and it is said', async () => {
  await rename(join(root, 'disk'), join(root, 'pulled'));
  await mkdir(target, { recursive: true });
  await expect(moves.need(target, JOB)).rejects.toThrow('is its disk still mounted?');
  await expect(moves.noteRun(target, JOB)).rejects.toThrow('is its disk still mounted?');
  await expect(moves.place(target, source)).rejects.toThrow('is its disk still mounted?');
  expect(await readdir(target)).toEqual([]);
});

test('folders that were made for the target go with it, but for one that somebody uses', async () => {
  const { created = '' } = await moves.prepare(join(root, 'a/b/c'), JOB);
  expect(created).toBe(join(root, 'a'));
  await rm(join(root, 'a/b/c/.depotd-move'), { recursive: true });
  await writeFile(join(root, 'a/used'), '');
  await moves.tidy(join(root, 'a/b/c'), created);
  expect(await readdir(join(root, 'a'))).toEqual(['used']);
});

test('what was set aside goes when the copy stays, and only that', async () => {
  await moves.place(target, source);
  const folder = await moves.finish(target);
  expect(await moves.finish(target)).toBe(folder);
  expect((await readdir(join(folder, 'old'))).sort()).toEqual(['containers', 'mine']);
  expect(await visible()).toEqual(['containers', 'image', 'lost+found', 'volumes']);
});
