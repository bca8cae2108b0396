import { execFile } from 'node:child_process';
import { chmod, link, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import type { CopyPass } from '../../src/host/container-goods.ts';
import { createMoveFolders } from '../../src/host/move-folders.ts';
import { LISTER } from '../../src/host/rsync-passes.ts';
import { createCopier, optionsFor, parseAbilities, reportIn } from '../../src/host/rsync.ts';

const run = promisify(execFile);

describe('what an rsync can do', () => {
  // First lines of `rsync --version`: Debian 12, OpenWrt 22.03 built without ACLs, macOS.
  test.each([
    ['rsync  version 3.2.7  protocol version 31\nCapabilities:\n    hardlinks, ACLs, xattrs, no crtimes', { version: [3, 2, 7], hasAcls: true, hasXattrs: true, hasHardLinks: true }],
    ['rsync  version v3.1.0  protocol version 31\n    hardlinks, no ACLs, no xattrs, iconv', { version: [3, 1, 0], hasAcls: false, hasXattrs: false, hasHardLinks: true }],
    ['openrsync: protocol version 29\nrsync version 2.6.9 compatible', undefined],
  ])('%s', (output, expected) => {
    expect(parseAbilities(output)).toEqual(expected);
  });

  test('it is asked for nothing that it does not know', () => {
    const old = { version: [3, 0, 9] as [number, number, number], hasAcls: false, hasXattrs: true, hasHardLinks: true };
    expect(optionsFor(old, true)).toEqual(['-aHXSx', '--numeric-ids', '--exclude=/lost+found', '--exclude=/.depotd-move', '--exclude=/.depotd-done', '--exclude=/.depotd-left-*']);
    const options = optionsFor({ ...old, version: [3, 10, 0], hasAcls: true }, true);
    expect(options).toEqual(expect.arrayContaining(['-aAHXSx', '--modify-window=-1']));
    expect(optionsFor({ ...old, version: [3, 2, 0] }, false)).not.toContain('--modify-window=-1');
  });
});

let root: string;
let source: string;
let folder: string;
let programs: string;
const copier = createCopier({ PATH: process.env.PATH ?? '/usr/bin:/bin' });

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'depotd-copy-'));
  source = join(root, 'source');
  programs = join(root, 'programs');
  await mkdir(programs);
  await mkdir(join(source, 'sub'), { recursive: true });
  const moves = createMoveFolders();
  await moves.prepare(join(root, 'target'), 'job');
  folder = moves.folderIn(join(root, 'target'));
});
afterEach(() => rm(root, { recursive: true }));

async function pass(kind: CopyPass, totalBytes = 0): Promise<string> {
  const { argv: [program, ...args], environment, cwd } = await copier.command(kind, { source, folder, totalBytes });
  return (await run(program, args, { env: { ...environment, PATH: `${programs}:${environment.PATH}` }, cwd })).stdout;
}

function copyOf(name: string): Promise<string> {
  return readFile(join(folder, 'new', name), 'utf8');
}

describe('the passes of a copy', () => {
  test('thousands of files leave some lines of progress in the log, and a report', async () => {
    for (let n = 0; n < 2000; n += 1) await writeFile(join(source, 'sub', String(n)), 'x'.repeat(50));

    const output = await pass('live', 100_000);

    expect(output.length).toBeLessThan(4096);
    expect(copier.percentIn(output)).toBe(99);
    expect(reportIn(await pass('compare'))).toEqual({ files: 2002, bytes: 100_000, copied: 2002, differences: 0 });
  });

  test('a change that a program has hidden, with the same size and the time set back, is copied all the same', async () => {
    const file = join(source, 'restored');
    await writeFile(file, 'before');
    await utimes(file, 1_000_000_000, 1_000_000_000);
    await pass('live');
    await writeFile(file, 'behind');
    await utimes(file, 1_000_000_000, 1_000_000_000);

    await pass('changed');

    expect(await copyOf('restored')).toBe('behind');
    expect(reportIn(await pass('compare'))).toMatchObject({ differences: 0 });
  });

  test('what changed is brought over without a look at the rest: new, gone, linked, other modes, in folders of any name', async () => {
    const odd = join(source, 'odd\nname ');
    await mkdir(join(odd, 'gone/deep'), { recursive: true });
    for (const name of ['linked', 'mode', 'gone/deep/file', 'same']) await writeFile(join(odd, name), name);
    await pass('live');
    await rm(join(odd, 'gone'), { recursive: true });
    await mkdir(join(odd, 'new/deeper'), { recursive: true });
    await writeFile(join(odd, 'new/deeper/file'), 'new');
    await link(join(odd, 'linked'), join(source, 'sub/link'));
    await chmod(join(odd, 'mode'), 0o4711);

    await pass('changed');

    expect(reportIn(await pass('compare'))).toMatchObject({ differences: 0 });
    expect(await readdir(join(folder, 'new/odd\nname '))).toEqual(['linked', 'mode', 'new', 'same']);
  });

  test('a folder that was renamed is found by comparing, and brought over by a pass over all', async () => {
    await mkdir(join(source, 'before'));
    await writeFile(join(source, 'before/file'), '');
    await pass('live');
    const hour = new Date(Date.now() + 3_600_000);
    await utimes(join(folder, 'began'), hour, hour);
    await rename(join(source, 'before'), join(source, 'behind'));
    await pass('changed');
    expect(reportIn(await pass('compare'))?.differences).toBeGreaterThan(0);

    await pass('differing');

    expect(reportIn(await pass('compare'))).toMatchObject({ differences: 0 });
  });
});

const MIB = 1024 ** 2;

/** Has a program run a shell text first. */
async function wrap(name: string, text: string): Promise<void> {
  const { stdout } = await run('sh', ['-c', 'command -v "$1"', 'sh', name]);
  await writeFile(join(programs, name), `#!/bin/sh\n${text}\nexec ${stdout.trim()} "$@"\n`, { mode: 0o755 });
}

describe('large files, which are copied before rsync takes them', () => {
  test.each(['coreutils', 'busybox'])('they come over as they are with the cp of %s: holes, modes, times, links; what an earlier move has left does not', async (whose) => {
    if (whose === 'busybox') await symlink('/bin/busybox', join(programs, 'cp'));
    const names = ['one', 'sub/odd\nname ', 'twice', 'holes'];
    for (const [n, name] of names.entries()) await writeFile(join(source, name), Buffer.alloc(3 * MIB + n, 65 + n));
    await link(join(source, 'twice'), join(source, 'sub/twice'));
    await truncate(join(source, 'holes'), 100 * MIB);
    await chmod(join(source, 'one'), 0o4711);
    await utimes(join(source, 'one'), 1_000_000_000.25, 1_000_000_000.25);
    await mkdir(join(source, '.depotd-left-1'));
    await writeFile(join(source, '.depotd-left-1/large'), Buffer.alloc(2 * MIB));

    await pass('live', 110 * MIB);

    for (const name of names) expect((await readFile(join(folder, 'new', name))).equals(await readFile(join(source, name)))).toBe(true);
    const [one, twice, again, holes] = await Promise.all(['one', 'twice', 'sub/twice', 'holes'].map((name) => stat(join(folder, 'new', name))));
    expect(one).toMatchObject({ mode: 0o104711, mtimeMs: 1_000_000_000_250, nlink: 1 });
    expect(twice?.ino).toBe(again?.ino);
    expect((holes?.blocks ?? Infinity) * 512).toBeLessThan(4 * MIB);
    expect(reportIn(await pass('compare'))).toMatchObject({ differences: 0, files: 7, copied: 7 });
    expect((await readdir(folder)).sort()).toEqual(['began', 'job', 'new']);
  });

  test('rsync does not copy them again, but one that has changed meanwhile', async () => {
    for (const name of ['same', 'changed']) await writeFile(join(source, name), Buffer.alloc(3 * MIB, 65));
    const inodes = join(root, 'inodes');
    await wrap('rsync', `rm "$0"; stat -c %i '${folder}/new/same' '${folder}/new/changed' >'${inodes}'; echo more >>'${source}/changed'`);

    await pass('live');

    const [same, changed] = (await readFile(inodes, 'utf8')).split('\n').map(Number);
    expect((await stat(join(folder, 'new/same'))).ino).toBe(same);
    expect((await stat(join(folder, 'new/changed'))).ino).not.toBe(changed);
    expect(reportIn(await pass('compare'))).toMatchObject({ differences: 0 });
  });

  test('two folders that are swapped meanwhile do not get the content of one with the time of the other', async () => {
    for (const [n, name] of ['sub', 'other'].entries()) {
      await mkdir(join(source, name), { recursive: true });
      await writeFile(join(source, name, 'file'), Buffer.alloc(3 * MIB, 65 + n));
      await utimes(join(source, name, 'file'), 1_000_000_000 + n, 1_000_000_000 + n);
    }
    await wrap('dd', `/bin/dd "$@" && mkdir '${root}/swapped' 2>/dev/null && cd '${source}' && mv sub between && mv other sub && mv between other; exit 0`);

    await pass('live');

    for (const name of ['sub/file', 'other/file']) expect((await readFile(join(folder, 'new', name))).equals(await readFile(join(source, name)))).toBe(true);
  });
});

describe('what a container does while large files are copied', () => {
  const contents = Buffer.alloc(3 * MIB, 65);
  beforeEach(async () => {
    await mkdir(join(root, 'outside'));
    // It knows the size and the time of a file of the host's.
    for (const [file, content] of [[join(root, 'outside/file'), Buffer.alloc(3 * MIB, 66)], [join(source, 'sub/file'), contents]] as const) {
      await writeFile(file, content);
      await utimes(file, 1_000_000_000, 1_000_000_000);
    }
  });

  const swap = (swapped: string, linked: string): string => `mv '${source}/${swapped}' '${root}/swapped' && ln -s '${root}/outside/${linked}' '${source}/${swapped}'`;
  const swapBack = (swapped: string): string => `rm '${source}/${swapped}' && mv '${root}/swapped' '${source}/${swapped}'`;
  const links = [['folder', 'sub', ''], ['file', 'sub/file', 'file']] as const;

  test.each(links)('a %s that it swaps for a link before they are written leads to nothing of the host', async (_what, swapped, linked) => {
    await wrap('cp', `[ "$1" = --version ] || { ${swap(swapped, linked)}; }`);
    await wrap('dd', `[ ! -e '${root}/swapped' ] || { ${swapBack(swapped)}; }`);
    await wrap('rsync', `[ ! -e '${root}/swapped' ] || { ${swapBack(swapped)}; }`);

    await pass('live');

    await expectOwn();
  });

  test.each(links)('a %s that it swaps for a link before they are read brings nothing of the host over', async (_what, swapped, linked) => {
    await wrap('cp', `[ "$1" = --version ] || { /bin/cp "$@"; ${swap(swapped, linked)}; exit; }`);
    await wrap('rsync', `rm "$0"; ${swapBack(swapped)}`);

    await pass('live');

    await expectOwn();
  });

  async function expectOwn(): Promise<void> {
    expect((await readFile(join(root, 'outside/file'))).equals(Buffer.alloc(3 * MIB, 66))).toBe(true);
    expect((await readFile(join(folder, 'new/sub/file'))).equals(contents)).toBe(true);
    expect(reportIn(await pass('compare'))).toMatchObject({ differences: 0 });
  }
});

describe('what comparing says', () => {
  test('what differs is counted and named, and nothing is touched', async () => {
    for (const name of ['one', 'two', 'gone']) await writeFile(join(source, name), name);
    await pass('live');
    await writeFile(join(source, 'one'), 'another length');
    await rm(join(source, 'gone'));
    await writeFile(join(source, 'new\nname'), '');

    const output = await pass('compare');

    expect(reportIn(output)?.differences).toBeGreaterThanOrEqual(3);
    expect(output).toMatch(/^\*deleting +gone$/m);
    expect((await readdir(join(folder, 'new'))).sort()).toEqual(['gone', 'one', 'sub', 'two']);
    expect(await copyOf('one')).toBe('one');
  });

  test('an rsync that fails hands its exit code on', async () => {
    await rm(source, { recursive: true });
    await expect(pass('live')).rejects.toMatchObject({ code: 23 });
  });

  test('where find cannot list what has changed, the same is listed without it', async () => {
    await writeFile(join(source, 'old'), '');
    const marker = join(root, 'marker');
    await writeFile(marker, '');
    await expect.poll(async () => {
      await rm(join(source, 'sub', 'new'), { force: true });
      await writeFile(join(source, 'sub', 'new'), '');
      return (await run(process.execPath, ['-e', LISTER, marker, 'files'], { cwd: source })).stdout;
    }).toBe('./sub/new\0');
    expect((await run(process.execPath, ['-e', LISTER, marker, 'folders'], { cwd: source })).stdout).toBe('./sub/\0');
  });
});
