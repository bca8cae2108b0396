import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { startLockHolder } from '../../device/lock-holder.ts';
import { openStore } from '../packages/open-store.ts';

test('what others change while a task waits for opkg is not undone with it', async () => {
  const store = await openStore();
  try {
    const theirs = join(store.device.root, 'etc/config/theirs');
    await writeFile(theirs, 'before\n');
    // The lists are there with it: what waits is the task itself.
    await store.run('install', { package: 'tiny-02' });
    const other = await startLockHolder(store.device);
    const id = await store.daemon.submit('install', { package: 'tiny-01' });
    await expect.poll(() => store.daemon.logOf(id)).toContain(`waiting: process ${other.pid}`);
    await writeFile(theirs, 'theirs\n');
    await other.release();
    expect((await store.daemon.finished(id)).state).toBe('done');

    expect((await store.run('undo', { task_id: id })).state).toBe('done');

    expect(await readFile(theirs, 'utf8')).toBe('theirs\n');
    expect((await store.statusOf('tiny-01')).installed).toBe(false);
  } finally {
    await store.close();
  }
});
