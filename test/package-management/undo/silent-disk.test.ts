import type * as Files from 'node:fs/promises';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';

import { createUndoStore } from '../../../src/package-management/undo/undo-store.ts';

const DISK = '/mnt/gone';
const MOUNT = `2 1 8:1 / ${DISK} rw - ext4 /dev/sda1 rw\n`;
/** What a call to the disk gets in the end. */
const disk = vi.hoisted(() => {
  let answer: () => void = () => undefined;
  const answers = new Promise<void>((resolve) => (answer = resolve));
  return { answers, answer };
});

vi.mock('node:fs/promises', async (load) => {
  const files = await load<typeof Files>();
  const absent = Object.assign(new Error('it is not there'), { code: 'ENOENT' });
  const ask = (path: string): Promise<unknown> =>
    (path.startsWith(DISK) ? disk.answers : Promise.resolve()).then(() => Promise.reject(absent));
  return { ...files, lstat: vi.fn(ask), readdir: vi.fn(ask) };
});

test('a disk that does not answer keeps one thread, however many ask what can be undone', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const paths = { isLive: true, stateDir: '/none', uploadDir: '/none' };
  const mountTable = (): Promise<string> => Promise.resolve(MOUNT);
  const store = createUndoStore({ paths: paths as never, limitBytes: () => 1, mountTable });

  const asked = [store.list(), store.list(), store.find('a'.repeat(32))];
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await Promise.all(asked)).toEqual([new Set(), new Set(), undefined]);
  expect(await store.list()).toEqual(new Set());

  const calls = [...vi.mocked(lstat).mock.calls, ...vi.mocked(readdir).mock.calls].filter(
    ([path]) => (path as string).startsWith(DISK),
  );
  expect(calls).toHaveLength(1);
  disk.answer();
  await vi.advanceTimersByTimeAsync(0);
  await store.list();
  expect(lstat).toHaveBeenCalledWith(join(DISK, '.depotd-undo'));
}, 5000);
