import type * as SyncFiles from 'node:fs';
import type * as Files from 'node:fs/promises';
import { expect, onTestFinished, test, vi } from 'vitest';

import { createDiskAsking } from '../../../src/device/disk/patience.ts';
import { readSpace } from '../../../src/device/disk/space.ts';

const MOUNTS = `1 0 8:2 / / rw - ext4 /dev/root rw
2 1 8:17 / /mnt/gone rw - ext4 /dev/sdb1 rw
3 1 8:33 / /mnt/good rw - ext4 /dev/sdc1 rw
`;

vi.mock('node:fs', async (load) => {
  const files = await load<typeof SyncFiles>();
  return { ...files, readFileSync: () => MOUNTS };
});

vi.mock('node:fs/promises', async (load) => {
  const files = await load<typeof Files>();
  const ask = (path: string): Promise<unknown> =>
    path.startsWith('/mnt/gone') ? new Promise(() => undefined) : files.stat('/');
  return { ...files, stat: ask, readdir: ask, statfs: () => files.statfs('/') };
});

test('one disk that does not answer keeps no other from being asked, whatever it is asked for', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const [answers, others] = [createDiskAsking(), createDiskAsking()];
  const asked = [
    readSpace('/mnt/gone'),
    answers('/mnt/gone/.depotd-undo'),
    others('/mnt/gone/docker'),
  ];
  const sound = ['/mnt/good/.depotd-undo', '/opt/docker'].map(others);

  expect(await Promise.all(sound)).toEqual([true, true]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await Promise.all(asked)).toEqual([undefined, false, false]);
  expect(await readSpace('/mnt/good')).toMatchObject({ totalBytes: expect.any(Number) as unknown });
}, 5000);
