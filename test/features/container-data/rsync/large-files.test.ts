import {
  chmod,
  link,
  mkdir,
  readdir,
  readFile,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { reportIn } from '../../../../src/features/container-data/rsync/rsync.ts';
import { createCopyPlace, type CopyPlace } from './copy-place.ts';

let on: CopyPlace;
beforeEach(async () => (on = await createCopyPlace()));
afterEach(() => on.close());

const MIB = 1024 ** 2;

/** Whether the rsync that is called is the one that is to have the large files. */
const LINKING = `echo "$*" | grep -q -e --link-dest`;

describe('large files, which are copied before rsync takes them', () => {
  test.each(['coreutils', 'busybox'])(
    'they come over as they are with the cp of %s: holes, modes, times, links; what an earlier move has left does not',
    async (whose) => {
      if (whose === 'busybox') await symlink('/bin/busybox', join(on.programs, 'cp'));
      const names = ['one', 'sub/odd\nname ', 'twice', 'holes'];
      for (const [n, name] of names.entries()) {
        await writeFile(join(on.source, name), Buffer.alloc(3 * MIB + n, 65 + n));
      }
      await link(join(on.source, 'twice'), join(on.source, 'sub/twice'));
      await truncate(join(on.source, 'holes'), 100 * MIB);
      await chmod(join(on.source, 'one'), 0o4711);
      await utimes(join(on.source, 'one'), 1_000_000_000.25, 1_000_000_000.25);
      await mkdir(join(on.source, '.depotd-left-1'));
      await writeFile(join(on.source, '.depotd-left-1/large'), Buffer.alloc(2 * MIB));

      await on.pass('live', 110 * MIB);

      for (const name of names) {
        expect(
          (await readFile(join(on.folder, 'new', name))).equals(
            await readFile(join(on.source, name)),
          ),
        ).toBe(true);
      }
      const [one, twice, again, holes] = await Promise.all(
        ['one', 'twice', 'sub/twice', 'holes'].map((name) => stat(join(on.folder, 'new', name))),
      );
      expect(one).toMatchObject({ mode: 0o104711, mtimeMs: 1_000_000_000_250, nlink: 1 });
      expect(twice?.ino).toBe(again?.ino);
      expect((holes?.blocks ?? Infinity) * 512).toBeLessThan(4 * MIB);
      expect(reportIn(await on.pass('compare'))).toMatchObject({
        differences: 0,
        files: 7,
        copied: 7,
      });
      expect((await readdir(on.folder)).sort()).toEqual(['began', 'job', 'new']);
    },
  );

  test('rsync does not copy them again, but one that has changed meanwhile', async () => {
    for (const name of ['same', 'changed']) {
      await writeFile(join(on.source, name), Buffer.alloc(3 * MIB, 65));
    }
    const inodes = join(on.root, 'inodes');
    await on.wrap(
      'rsync',
      `${LINKING} && stat -c %i '${on.folder}/staged/same' '${on.folder}/staged/changed' >'${inodes}' && echo more >>'${on.source}/changed'`,
    );

    await on.pass('live');

    const [same, changed] = (await readFile(inodes, 'utf8')).split('\n').map(Number);
    expect((await stat(join(on.folder, 'new/same'))).ino).toBe(same);
    expect((await stat(join(on.folder, 'new/changed'))).ino).not.toBe(changed);
    expect(reportIn(await on.pass('compare'))).toMatchObject({ differences: 0 });
  });

  test('a target whose disk goes meanwhile gets nothing on the disk below', async () => {
    await mkdir(join(on.source, 'sub/deep'));
    await writeFile(join(on.source, 'sub/deep/file'), Buffer.alloc(3 * MIB, 65));
    await on.wrap('xargs', `mv '${on.folder}' '${on.root}/gone'`);

    await expect(on.pass('live')).rejects.toThrow();

    expect(await readdir(join(on.folder, '..'))).toEqual([]);
  });

  test('two folders that are swapped meanwhile do not get the content of one with the time of the other', async () => {
    for (const [n, name] of ['sub', 'other'].entries()) {
      await mkdir(join(on.source, name), { recursive: true });
      await writeFile(join(on.source, name, 'file'), Buffer.alloc(3 * MIB, 65 + n));
      await utimes(join(on.source, name, 'file'), 1_000_000_000 + n, 1_000_000_000 + n);
    }
    await on.wrap(
      'dd',
      `/bin/dd "$@" && mkdir '${on.root}/swapped' 2>/dev/null && cd '${on.source}' && mv sub between && mv other sub && mv between other; exit 0`,
    );

    await on.pass('live');

    for (const name of ['sub/file', 'other/file']) {
      expect(
        (await readFile(join(on.folder, 'new', name))).equals(
          await readFile(join(on.source, name)),
        ),
      ).toBe(true);
    }
  });
});

describe('what a container does while large files are copied', () => {
  const contents = Buffer.alloc(3 * MIB, 65);
  beforeEach(async () => {
    await mkdir(join(on.root, 'outside'));
    // It knows the size and the time of a file of the host's.
    for (const [file, content] of [
      [join(on.root, 'outside/file'), Buffer.alloc(3 * MIB, 66)],
      [join(on.source, 'sub/file'), contents],
    ] as const) {
      await writeFile(file, content);
      await utimes(file, 1_000_000_000, 1_000_000_000);
    }
  });

  const swaps: [string, string, string][] = [
    ['a folder for a link', 'sub', 'ln -s ../outside'],
    ['a file for a link', 'sub/file', 'ln -s ../../outside/file'],
    ['a file for a pipe', 'sub/file', 'mkfifo'],
  ];
  test.each(
    swaps.flatMap(
      (swap) =>
        [
          ['xargs', ...swap],
          ['dd', ...swap],
        ] as const,
    ),
  )(
    'before %s begins it swaps %s: nothing of the host is read or written, and nothing waits',
    async (...[program, , name, make]) => {
      const [there, aside] = [join(on.source, name), join(on.root, 'aside')];
      await on.wrap(
        program,
        `[ -e '${aside}' ] || { mv '${there}' '${aside}' && ${make} '${there}'; }`,
      );
      await on.wrap('rsync', `${LINKING} && rm '${there}' && mv '${aside}' '${there}'`);

      await on.pass('live');

      expect(
        (await readFile(join(on.root, 'outside/file'))).equals(Buffer.alloc(3 * MIB, 66)),
      ).toBe(true);
      expect((await readFile(join(on.folder, 'new/sub/file'))).equals(contents)).toBe(true);
      expect(reportIn(await on.pass('compare'))).toMatchObject({ differences: 0 });
    },
  );
});
