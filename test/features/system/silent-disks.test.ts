import type * as Files from 'node:fs/promises';
import { expect, test, vi } from 'vitest';

import { loadConfig } from '../../../src/config/config.ts';
import { createPaths } from '../../../src/device/paths.ts';
import { readStorage } from '../../../src/features/system/storage.ts';

vi.mock('node:fs/promises', async (load) => {
  const files = await load<typeof Files>();
  const stat = async (path: string): Promise<unknown> =>
    path.startsWith('/gone') ? new Promise(() => undefined) : files.stat(path);
  return { ...files, stat };
});

test('the room for packages is told however many disks do not answer', async () => {
  const paths = createPaths(loadConfig({ file: '/dev/null', overrides: [] }));
  const disks = ['a', 'b', 'c'].map(
    (name, at) => `${at} 0 8:${at} / /gone/${name} rw - ext4 /dev/sd${name} rw`,
  );

  for (let times = 0; times < 2; times += 1) {
    expect(await readStorage(paths, () => Promise.resolve(disks.join('\n')))).toEqual([
      expect.objectContaining({ mount: '/', role: 'system' }),
    ]);
  }
});
