import { execFile } from 'node:child_process';
import {
  chmod,
  link,
  mkdir,
  readdir,
  rename,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import LISTER from '../../../../src/features/container-data/rsync/list-changed.script.cjs';
import {
  optionsFor,
  parseAbilities,
  reportIn,
} from '../../../../src/features/container-data/rsync/rsync.ts';
import { canLoop } from '../../../support/loop-disks.ts';
import { createCopyPlace, type CopyPlace } from './copy-place.ts';

const run = promisify(execFile);

describe('what an rsync can do', () => {
  // First lines of `rsync --version`: Debian 12, OpenWrt 22.03 built without ACLs, macOS.
  test.each([
    [
      'rsync  version 3.2.7  protocol version 31\nCapabilities:\n    hardlinks, ACLs, xattrs, no crtimes',
      { version: 30207, hasAcls: true, hasXattrs: true, hasHardLinks: true },
    ],
    [
      'rsync  version v3.1.0  protocol version 31\n    hardlinks, no ACLs, no xattrs, iconv',
      { version: 30100, hasAcls: false, hasXattrs: false, hasHardLinks: true },
    ],
    ['openrsync: protocol version 29\nrsync version 2.6.9 compatible', undefined],
  ])('%s', (output, expected) => {
    expect(parseAbilities(output)).toEqual(expected);
  });

  test('it is asked for nothing that it does not know', () => {
    const old = {
      version: 30009,
      hasAcls: false,
      hasXattrs: true,
      hasHardLinks: true,
    };
    expect(optionsFor(old, true)).toEqual({
      options: [
        '-aHSx',
        '--numeric-ids',
        '--exclude=/lost+found',
        '--exclude=/.depotd-move',
        '--exclude=/.depotd-done',
        '--exclude=/.depotd-left-*',
      ],
      attributes: ['-X'],
    });
    const newer = optionsFor({ ...old, version: 31000, hasAcls: true }, true);
    expect(newer.options).toContain('--modify-window=-1');
    expect(newer.attributes).toContain('-AX');
    expect(optionsFor({ ...old, version: 30200 }, false).options).not.toContain(
      '--modify-window=-1',
    );
  });
});

const canMount = await canLoop(['mount']);
let on: CopyPlace;
beforeEach(async () => (on = await createCopyPlace()));
afterEach(() => on.close());

test('a list that lacks a folder, such as one that went meanwhile, leaves all to the pass over all', async () => {
  await on.pass('live');
  await writeFile(join(on.source, 'new'), '');
  await on.wrap('find', 'case "$*" in ". "*-cnewer*) printf "./new\\0"; exit 1 ;; esac');

  await expect(on.pass('changed')).rejects.toMatchObject({ code: 23 });

  await expect(on.copyOf('new')).rejects.toThrow('ENOENT');
  await on.pass('differing');
  expect(await on.copyOf('new')).toBe('');
});

describe('the passes of a copy', () => {
  test('thousands of files leave some lines of progress in the log, and a report', async () => {
    // The file system of the copy is everybody's here; it is to hold 1000 KiB more when it is asked
    // again.
    await on.wrap(
      'df',
      `cd '${on.root}'; printf 'Filesystem\\ndisk 1 %s 1 1 /\\n' "$(cat held 2>/dev/null || echo 7000)"; echo 8000 >held; exit`,
    );
    for (let n = 0; n < 2000; n += 1) {
      await writeFile(join(on.source, 'sub', String(n)), 'x'.repeat(50));
    }

    const output = await on.pass('live', 1040 * 1024);

    expect(output.length).toBeLessThan(4096);
    expect(on.copier.percentIn(output)).toBe(96);
    expect(reportIn(await on.pass('compare'))).toEqual({
      files: 2002,
      bytes: 100_000,
      copied: 2002,
      differences: 0,
    });
  });

  test('a change that a program has hidden, with the same size and the time set back, is copied all the same', async () => {
    const file = join(on.source, 'restored');
    await writeFile(file, 'before');
    await utimes(file, 1_000_000_000, 1_000_000_000);
    await on.pass('live');
    await writeFile(file, 'behind');
    await utimes(file, 1_000_000_000, 1_000_000_000);

    await on.pass('changed');

    expect(await on.copyOf('restored')).toBe('behind');
    expect(reportIn(await on.pass('compare'))).toMatchObject({ differences: 0 });
  });

  test('what changed is brought over without a look at the rest: new, gone, linked, other modes, in folders of any name', async () => {
    const odd = join(on.source, 'odd\nname ');
    await mkdir(join(odd, 'gone/deep'), { recursive: true });
    for (const name of ['linked', 'mode', 'gone/deep/file', 'same']) {
      await writeFile(join(odd, name), name);
    }
    await on.pass('live');
    await rm(join(odd, 'gone'), { recursive: true });
    await mkdir(join(odd, 'new/deeper'), { recursive: true });
    await writeFile(join(odd, 'new/deeper/file'), 'new');
    await link(join(odd, 'linked'), join(on.source, 'sub/link'));
    await chmod(join(odd, 'mode'), 0o4711);

    await on.pass('changed');

    expect(reportIn(await on.pass('compare'))).toMatchObject({ differences: 0 });
    expect(await readdir(join(on.folder, 'new/odd\nname '))).toEqual([
      'linked',
      'mode',
      'new',
      'same',
    ]);
  });

  test.each([
    ['a link', 'ln -s elsewhere current'],
    ['a file', 'echo text >current'],
    ['a fifo', 'mkfifo current'],
    // Root's to make.
    ...(process.getuid?.() === 0 ? [['a whiteout of an overlay', 'mknod current c 0 0']] : []),
  ])('a folder full of files that has become %s since is made way for', async (_, make = '') => {
    await mkdir(join(on.source, 'sub/current/deep'), { recursive: true });
    await writeFile(join(on.source, 'sub/current/deep/file'), '');
    await on.pass('live');
    await rm(join(on.source, 'sub/current'), { recursive: true });
    await run('sh', ['-c', make], { cwd: join(on.source, 'sub') });

    await on.pass('changed');

    expect(reportIn(await on.pass('compare'))).toMatchObject({
      differences: 0,
      files: 3,
      copied: 3,
    });
  });

  const withoutCnewer = 'case "$*" in *-cnewer*) exit 1 ;; esac';
  test.skipIf(!canMount).each([
    ['is full', 'size=4k', '', /no space left on device/i],
    ['is full, where find cannot list it', 'size=4k', withoutCnewer, /no space left on device/i],
    ['is read-only', 'ro', '', /read-only file system/i],
  ])(
    'a list of what changed whose disk %s is told, and nothing is copied by it',
    async (...row) => {
      const [, options, find, reason] = row;
      const disk = join(on.root, 'disk');
      await on.pass('live');
      await writeFile(join(on.source, 'new'), '');
      await on.wrap('find', find);
      await mkdir(disk);
      await run('mount', ['-t', 'tmpfs', '-o', options, 'list', disk]);
      try {
        await writeFile(join(disk, 'full'), Buffer.alloc(4096)).catch(() => undefined);
        await symlink(join(disk, 'list'), join(on.folder, 'list'));

        await expect(on.pass('changed')).rejects.toMatchObject({
          code: 23,
          stderr: expect.stringMatching(reason) as string,
        });
      } finally {
        await run('umount', [disk]);
      }
    },
  );

  test('a folder that was renamed is found by comparing, and brought over by a pass over all', async () => {
    await mkdir(join(on.source, 'before'));
    await writeFile(join(on.source, 'before/file'), '');
    await on.pass('live');
    const hour = new Date(Date.now() + 3_600_000);
    await utimes(join(on.folder, 'began'), hour, hour);
    await rename(join(on.source, 'before'), join(on.source, 'behind'));
    await on.pass('changed');
    expect(reportIn(await on.pass('compare'))?.differences).toBeGreaterThan(0);

    await on.pass('differing');

    expect(reportIn(await on.pass('compare'))).toMatchObject({ differences: 0 });
  });
});

describe('what comparing says', () => {
  test('what differs is counted and named, and nothing is touched', async () => {
    for (const name of ['one', 'two', 'gone']) await writeFile(join(on.source, name), name);
    await on.pass('live');
    await writeFile(join(on.source, 'one'), 'another length');
    await rm(join(on.source, 'gone'));
    await writeFile(join(on.source, 'new\nname'), '');

    const output = await on.pass('compare');

    expect(reportIn(output)?.differences).toBeGreaterThanOrEqual(3);
    expect(output).toMatch(/^\*deleting +gone$/m);
    expect((await readdir(join(on.folder, 'new'))).sort()).toEqual(['gone', 'one', 'sub', 'two']);
    expect(await on.copyOf('one')).toBe('one');
  });

  test('what an awk prints piece by piece is not mixed with the count of what was copied', async () => {
    await on.pass('live');
    await on.wrap('find', 'sleep 0.3');
    await on.wrap(
      'awk',
      `case " $* " in *' pass=compare '*)
  PATH=\${PATH#*:} awk "$@" | while IFS= read -r line; do printf %s "$line"; sleep 0.2; echo; done
  exit ;;
esac`,
    );

    expect(reportIn(await on.pass('compare'))).toEqual({
      files: 2,
      bytes: 0,
      copied: 2,
      differences: 0,
    });
  });

  test('an rsync that fails hands its exit code on', async () => {
    await rm(on.source, { recursive: true });
    await expect(on.pass('live')).rejects.toMatchObject({ code: 23 });
  });

  test.each(['find', 'busybox'])(
    'what an earlier move has left in the source is no part of the data, also if it changes (%s)',
    async (find) => {
      const left = ['.depotd-done/old', '.depotd-left-1', 'lost+found'];
      for (const folder of left) await mkdir(join(on.source, folder), { recursive: true });
      if (find === 'busybox') await on.wrap('find', 'exec busybox find "$@"');
      await on.pass('live');
      for (const folder of [...left, 'sub']) await writeFile(join(on.source, folder, 'new'), '');

      await on.pass('changed');

      expect(await on.copyOf('sub/new')).toBe('');
      const report = reportIn(await on.pass('compare'));
      expect(report).toMatchObject({ differences: 0, copied: report?.files });
    },
  );

  test('where find cannot list what has changed, the same is listed without it', async () => {
    await writeFile(join(on.source, 'old'), '');
    const marker = join(on.root, 'marker');
    await writeFile(marker, '');
    await expect
      .poll(async () => {
        await rm(join(on.source, 'sub', 'new'), { force: true });
        await writeFile(join(on.source, 'sub', 'new'), '');
        return (await run(process.execPath, ['-e', LISTER, marker], { cwd: on.source })).stdout;
      })
      .toBe('./sub\0./sub/new\0');
  });
});
