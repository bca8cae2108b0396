import { execFileSync } from 'node:child_process';
import { chown, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import {
  changedFiles,
  copyFiles,
  copyName,
  putFileBack,
  scanFiles,
  type FileStates,
} from '../../../src/package-management/undo/file-states.ts';
import { runCommand } from '../../device/command.ts';
import { ANOTHER_USER, canBeAnother } from '../../support/another-user.ts';
import { bundledProgram } from '../../support/bundled-program.ts';

let root: string;
let copies: string;
let settings: string;
let secret: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'depotd-undo-'));
  copies = join(root, 'copies');
  settings = join(root, 'etc/demo');
  secret = join(root, 'secret');
  await mkdir(settings, { recursive: true });
  await writeFile(secret, 'secret\n');
});
afterEach(() => rm(root, { recursive: true, force: true }));

function scan(): Promise<FileStates> {
  return scanFiles({ roots: [join(root, 'etc')], excluded: [], mostFileBytes: 1024 });
}

describe('of a file that is another thing when it is copied nothing is kept:', () => {
  test.each([
    ['a link to a secret', (path: string) => symlink(secret, path)],
    ['a fifo', (path: string) => void execFileSync('mkfifo', [path])],
    ['a folder', (path: string) => mkdir(path)],
    ['other content', (path: string) => writeFile(path, 'changed\n')],
  ])('%s', async (_, make) => {
    const path = join(settings, 'demo');
    await writeFile(path, 'mine\n');
    const states = await scan();
    await rm(path);
    await make(path);

    await copyFiles(states, copies);

    expect(await readdir(copies)).toEqual([]);
  });
});

test('a file is kept as it was, for root alone, and comes back', async () => {
  const path = join(settings, 'demo');
  await writeFile(path, 'mine\n', { mode: 0o640 });
  const states = await scan();

  await copyFiles(states, copies);
  await rm(settings, { recursive: true });
  await putFileBack({ path, before: states.get(path) }, copies);

  expect(await readFile(path, 'utf8')).toBe('mine\n');
  expect(await scan()).toEqual(states);
  expect(await readdir(copies)).toEqual([copyName(path)]);
});

describe.skipIf(!canBeAnother)('in a folder that another user can write', () => {
  test.each([
    ['whose it is', () => chown(settings, ANOTHER_USER, ANOTHER_USER)],
    ['for everybody', () => void execFileSync('chmod', ['777', settings])],
    ['whose the folder above is', () => chown(join(root, 'etc'), ANOTHER_USER, ANOTHER_USER)],
  ])('nothing is kept, and nothing is put back: %s', async (_, give) => {
    const path = join(settings, 'demo');
    await writeFile(path, 'mine\n');
    const before = (await scan()).get(path);
    await copyFiles(await scan(), copies);
    await give();
    await rm(path);
    await symlink(secret, path);

    expect([...(await scan()).keys()]).toEqual([]);
    await expect(putFileBack({ path, before }, copies)).rejects.toThrow('cannot use the folder');
    await expect(putFileBack({ path }, copies)).rejects.toThrow('cannot use the folder');
    expect(await readFile(secret, 'utf8')).toBe('secret\n');
    expect(await readdir(settings)).toEqual(['demo']);
  });
});

test('for lack of descriptors no file passes for one that is not there', async () => {
  const path = join(settings, 'demo');
  await writeFile(path, 'mine\n');
  const source = join(import.meta.dirname, 'scan-without-descriptors.ts');

  const { stdout } = await runCommand(['node', await bundledProgram(source), join(root, 'etc')]);

  expect(JSON.parse(stdout)).toEqual({
    meanwhile: expect.stringContaining('EMFILE') as string,
    after: [path],
  });
});

test('a file that was too large to be kept is not taken for one that came', async () => {
  const path = join(settings, 'demo');
  await writeFile(path, 'mine\n'.repeat(1000));
  const states = await scan();
  await writeFile(path, 'mine\n');

  expect(changedFiles(states, await scan())).toEqual([]);
});
