import type * as Files from 'node:fs/promises';
import { stat } from 'node:fs/promises';
import { expect, test, vi } from 'vitest';

import { readSpace } from '../../../src/device/disk/space.ts';

let answer = (): void => undefined;
const isBack = new Promise<void>((resolve) => (answer = resolve));

vi.mock('node:fs/promises', async (load) => {
  const files = await load<typeof Files>();
  return {
    ...files,
    stat: vi.fn(async (path: string) => {
      if (path.startsWith('/gone')) await isBack;
      return files.stat('/');
    }),
    statfs: () => files.statfs('/'),
  };
});

test('disks that do not answer keep no more than two threads, however often they are asked', async () => {
  const folders = ['/gone/a', '/gone/b', '/gone/c', '/gone/d'];
  expect(await readSpace('/gone/a')).toBeUndefined();
  expect(await readSpace('/good')).toMatchObject({ totalBytes: expect.any(Number) as unknown });

  for (let times = 0; times < 3; times += 1) {
    expect(await Promise.all(folders.map(readSpace))).toEqual(folders.map(() => undefined));
  }
  const threads = vi.mocked(stat).mock.calls.filter(([path]) => path !== '/good');
  answer();

  expect(threads.map(([path]) => path)).toEqual(['/gone/a', '/gone/b']);
  await expect.poll(() => readSpace('/gone/d')).toBeDefined();
});
