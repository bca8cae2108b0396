import type * as Files from 'node:fs/promises';
import { mkdir, open, readdir } from 'node:fs/promises';
import { expect, onTestFinished, test, vi } from 'vitest';

import { istoreBackupRoutes } from '../../../src/features/istore/backup-routes.ts';

vi.mock('node:fs/promises', async (load) => {
  const files = await load<typeof Files>();
  const hangs = (): Promise<never> => new Promise(() => undefined);
  return { ...files, readdir: vi.fn(hangs), mkdir: vi.fn(hangs), open: vi.fn(hangs) };
});

test('a disk that has gone and is asked for backups keeps one thread, and the page has its answer', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const routes = istoreBackupRoutes({ paths: { onDevice: (path: string) => path } } as never);
  const operations = ['get_available_backup_file_list', 'local_backup', 'local_restore'];

  const asked = operations.map(async (operation) => {
    const route = routes.find(({ path }) => path === `admin/store/${operation}`);
    const answer = await route?.handle({ params: { path: '/gone' } } as never);
    return answer?.json();
  });
  await vi.advanceTimersByTimeAsync(10_000);

  const refused = {
    code: 1,
    stdout: '',
    stderr: 'cannot look at /gone: its disk does not answer',
  };
  expect(await Promise.all(asked)).toEqual([{ code: 200, msg: '[]' }, refused, refused]);
  expect(readdir).toHaveBeenCalledTimes(1);
  expect(mkdir).not.toHaveBeenCalled();
  expect(open).not.toHaveBeenCalled();
}, 5000);
