import type * as Files from 'node:fs/promises';
import { readdir } from 'node:fs/promises';
import { expect, onTestFinished, test, vi } from 'vitest';

import { createSets } from '../../../src/features/backup/sets.ts';
import { createLog } from '../../../src/log.ts';

vi.mock('node:fs/promises', async (load) => {
  const files = await load<typeof Files>();
  return {
    ...files,
    readdir: vi.fn((path: string) =>
      path === '/gone' ? new Promise(() => undefined) : Promise.resolve([]),
    ),
  };
});

test('a disk with backups that does not answer keeps one thread, and the list waits for it once', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const notes = { read: () => Promise.resolve(['/gone']) };
  const paths = { stateDir: '/none', onDevice: (path: string) => path };
  const sets = createSets(paths as never, notes as never, createLog('silent'));

  const first = [sets.all(), sets.all()];
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await Promise.all(first)).toEqual([[], []]);
  expect(await sets.all()).toEqual([]);

  const calls = vi.mocked(readdir).mock.calls.filter(([path]) => path === '/gone');
  expect(calls).toHaveLength(1);
}, 5000);

test('a backup to such a disk ends at once, and asks it no more', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const notes = { read: () => Promise.resolve([]) };
  const paths = { stateDir: '/none', onDevice: (path: string) => path };
  const sets = createSets(paths as never, notes as never, createLog('silent'));

  const placed = [1, 2].map(() => sets.place('a', '/gone').catch(String));
  await vi.advanceTimersByTimeAsync(10_000);

  const words = 'DepotError: cannot look at /gone: its disk does not answer';
  expect(await Promise.all(placed)).toEqual([words, words]);
}, 5000);
