import { execFileSync } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { startLockHolder } from '../../device/lock-holder.ts';
import { openEvents } from '../../support/event-reader.ts';
import { openStore, type Store } from '../packages/open-store.ts';
import type { UndoStatus } from './undo-tasks.ts';

let store: Store;
beforeAll(async () => {
  store = await openStore();
});
afterAll(() => store.close());

test('who listens hears with the end of a task that it can be undone', async () => {
  const { daemon } = store;
  const all = await openEvents(`${daemon.url}${daemon.base}/admin/system/events`);
  const id = await daemon.submit('install', { package: 'tiny-01' });
  const one = await openEvents(
    `${daemon.url}${daemon.base}/admin/system/tasks/events?task_id=${id}`,
  );

  expect((await one.rest()).at(-1)).toMatchObject({
    event: 'end',
    data: { state: 'done', can_undo: true },
  });
  let last: unknown;
  while (!isEnd(last)) last = (await all.next())?.data;
  all.close();
  expect(last).toMatchObject({ task_id: id, state: 'done', can_undo: true });
});

test('what is being undone is not offered to be undone once more', async () => {
  const { daemon, device } = store;
  const { id } = await store.run('install', { package: 'demo' });
  const holder = await startLockHolder(device);
  const back = await daemon.submit('undo', { task_id: id });

  expect(await daemon.status(id)).toMatchObject({
    can_undo: false,
    no_undo: `Task ${back} is undoing it.`,
  });

  await holder.release();
  expect(await daemon.finished(back)).toMatchObject({ state: 'done', can_undo: true });
  const { no_undo: why }: UndoStatus = await daemon.status(id);
  expect(why).toMatch(/ was changed since by task /);
});

test.skipIf(process.getuid?.() !== 0)(
  'copies of no task that cannot be removed keep nobody from hearing of tasks',
  async () => {
    const { daemon, device } = store;
    const folder = join(device.root, 'tmp/depotd/undo');
    await daemon.close();
    await mkdir(join(folder, 'a'.repeat(32)), { recursive: true, mode: 0o700 });
    execFileSync('mount', ['--bind', folder, folder]);
    try {
      execFileSync('mount', ['-o', 'remount,bind,ro', folder]);
      await daemon.restart();

      const signal = AbortSignal.timeout(5000);
      const url = `${daemon.url}${daemon.base}/admin/system/tasks/status`;
      expect((await fetch(url, { signal })).status).toBe(200);
    } finally {
      execFileSync('umount', ['-l', folder]);
    }
  },
);

test('of a backup nothing is said of undo', async () => {
  const { daemon } = store;
  const status = await daemon.finished(await daemon.submit('backup'));
  expect(status).toMatchObject({ state: 'done' });
  expect(status).not.toHaveProperty('can_undo');
});

function isEnd(data: unknown): boolean {
  return typeof data === 'object' && data !== null && 'running' in data && data.running === false;
}
