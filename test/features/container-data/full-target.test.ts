import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { prepare } from '../../../src/features/container-data/target-folder.ts';
import { canLoop, command } from '../../support/loop-disks.ts';

test.skipIf(!(await canLoop(['mount'])))(
  'a target that cannot be made for want of room is told to be full, not gone',
  async () => {
    const disk = await mkdtemp(join(tmpdir(), 'depotd-full-'));
    await command('mount', ['-t', 'tmpfs', '-o', 'nr_inodes=1', 'full', disk]);
    try {
      await expect(prepare(join(disk, 'docker'), 'job')).rejects.toMatchObject({
        code: 'no_space',
        message: expect.stringContaining('its file system is full') as string,
      });
    } finally {
      await command('umount', [disk]);
      await rm(disk, { recursive: true });
    }
  },
);
