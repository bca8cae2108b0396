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
const copier = createCopier({ PATH: process.env.PATH ?? '/usr/bin:/bin' });

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'depotd-copy-'));
  source = join(root, 'source');
  await mkdir(join(source, 'sub'), { recursive: true });
  const moves = createMoveFolders();
  await moves.prepare(join(root, 'target'), 'job');
  folder = moves.folderIn(join(root, 'target'));
});
afterEach(() => rm(root, { recursive: true }));

async function pass(kind: CopyPass, totalBytes = 0, programs = ''): Promise<string> {
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

describe('large files, which are copied before rsync takes them', () => {
  test.each(['coreutils', 'busybox'])('they come over as they are with the cp of %s: holes, modes, times, links; what an earlier move has left does not', async (whose) => {
    const programs = join(root, 'programs');
    await mkdir(programs);
    if (whose === 'busybox') await symlink('/bin/busybox', join(programs, 'cp'));
    const names = ['one', 'sub/odd\nname ', 'twice', 'holes'];
    for (const [n, name] of names.entries()) await writeFile(join(source, name), Buffer.alloc(3 * MIB + n, 65 + n));
    await link(join(source, 'twice'), join(source, 'sub/twice'));
    await truncate(join(source, 'holes'), 100 * MIB);
    await chmod(join(source, 'one'), 0o4711);
    await utimes(join(source, 'one'), 1_000_000_000.25, 1_000_000_000.25);
    await mkdir(join(source, '.depotd-left-1'));
    await writeFile(join(source, '.depotd-left-1/large'), Buffer.alloc(2 * MIB));

    await pass('live', 110 * MIB, programs);

    for (const name of names) expect((await readFile(join(folder, 'new', name))).equals(await readFile(join(source, name)))).toBe(true);
    const [one, twice, again, holes] = await Promise.all(['one', 'twice', 'sub/twice', 'holes'].map((name) => stat(join(folder, 'new', name))));
    expect(one).toMatchObject({ mode: 0o104711, mtimeMs: 1_000_000_000_250, nlink: 1 });
    expect(twice?.ino).toBe(again?.ino);
    expect((holes?.blocks ?? Infinity) * 512).toBeLessThan(4 * MIB);
    expect(reportIn(await pass('compare'))).toMatchObject({ differences: 0, files: 7, copied: 7 });
    expect((await readdir(folder)).sort()).toEqual(['began', 'job', 'new']);
  });

  test('rsync does not copy them again, but one that has changed meanwhile', async () => {
    const [programs, inodes] = [join(root, 'programs'), join(root, 'inodes')];
    await mkdir(programs);
    for (const name of ['same', 'changed']) await writeFile(join(source, name), Buffer.alloc(3 * MIB, 65));
    // As rsync is to begin.
    await writeFile(join(programs, 'rsync'), `#!/bin/sh
stat -c %i '${folder}/staged/same' '${folder}/staged/changed' >'${inodes}'
echo more >>'${source}/changed'
exec /usr/bin/rsync "$@"
`, { mode: 0o755 });

    await pass('live', 0, programs);

    const [same, changed] = (await readFile(inodes, 'utf8')).split('\n').map(Number);
    expect((await stat(join(folder, 'new/same'))).ino).toBe(same);
    expect((await stat(join(folder, 'new/changed'))).ino).not.toBe(changed);
    expect(reportIn(await pass('compare'))).toMatchObject({ differences: 0 });
  });
});

describe('what a container does while large files are copied', () => {
  test.each([
    ['folder', 'sub', ''],
    ['file', 'sub/file', 'file'],
  ])('a %s that it swaps for a link leads out of neither side', async (_what, swapped, linked) => {
    const [programs, outside] = [join(root, 'programs'), join(root, 'outside')];
    await mkdir(programs);
    await mkdir(outside);
    await writeFile(join(outside, 'file'), "the host's own");
    await writeFile(join(source, 'sub/file'), Buffer.alloc(3 * MIB, 65));
    // A link when the copy of the file is made, and the file again when it is filled.
    await writeFile(join(programs, 'cp'), `#!/bin/sh
[ "$1" != --version ] && [ ! -e '${root}/swapped' ] || exec /bin/cp "$@"
mv '${source}/${swapped}' '${root}/swapped' && ln -s '${outside}/${linked}' '${source}/${swapped}'
/bin/cp "$@"
rm '${source}/${swapped}' && mv '${root}/swapped' '${source}/${swapped}' && mkdir '${root}/swapped'
`, { mode: 0o755 });

    await pass('live', 0, programs);

    expect(await readFile(join(outside, 'file'), 'utf8')).toBe("the host's own");
    expect((await readFile(join(folder, 'new/sub/file'))).equals(Buffer.alloc(3 * MIB, 65))).toBe(true);
    expect(reportIn(await pass('compare'))).toMatchObject({ differences: 0 });
  });
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
