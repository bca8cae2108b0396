import { mkdir, mkdtemp, symlink } from 'node:fs/promises';
import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterEach, beforeEach, expect, test } from 'vitest';

import {
  createLocations,
  MOST_PATH_BYTES,
} from '../../../src/features/container-data/locations.ts';

let root: string;
beforeEach(async () => (root = await mkdtemp(join(tmpdir(), 'depotd-locations-'))));
afterEach(() => promisify(execFile)('rm', ['-r', root]));

test.each(['find', 'busybox'])(
  'with the find of %s a path that is a byte too long is named, and one that is not is not',
  async (whose) => {
    const programs = join(root, 'programs');
    await mkdir(programs);
    if (whose === 'busybox') await symlink('/bin/busybox', join(programs, 'find'));
    const { longPath } = createLocations({ PATH: `${programs}:${process.env.PATH ?? ''}` });
    // What busybox says counts the two bytes of `./` as well.
    const most = MOST_PATH_BYTES - (whose === 'busybox' ? 2 : 0);
    await makePath(join(root, 'fits'), most);
    await makePath(join(root, 'long'), MOST_PATH_BYTES + 1);

    expect(await longPath(join(root, 'fits'))).toBeUndefined();
    expect(await longPath(join(root, 'long'))).toEqual({
      folder: join(root, 'long'),
      start: 'd'.repeat(100),
    });
  },
);

/** No single call can: a program goes down from folder to folder. */
async function makePath(folder: string, bytes: number): Promise<void> {
  await mkdir(folder);
  const depth = Math.floor((bytes - 1) / 201);
  const script =
    'cd "$1" && name=$(printf "%200s" | tr " " d); for n in $(seq "$2"); do mkdir "$name" && cd -P "$name" || exit; done; mkdir "$(printf "%$3s" | tr " " e)"';
  await promisify(execFile)('sh', [
    '-c',
    script,
    'sh',
    folder,
    String(depth),
    String(bytes - depth * 201),
  ]);
}
