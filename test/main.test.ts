import { stat } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { startDaemon } from './device/daemon.ts';
import { createDevice } from './device/device.ts';

test('a daemon that is told to stop in the moment it listens ends in order', async () => {
  const device = await createDevice();
  try {
    for (let round = 0; round < 5; round += 1) {
      const daemon = await startDaemon(device);
      expect(await daemon.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    }
  } finally {
    await device.close();
  }
});

test('a second daemon on the same records does not start, and the first one loses none', async () => {
  const device = await createDevice();
  try {
    const first = await startDaemon(device);
    expect((await stat(join(device.root, 'etc/depotd'))).mode & 0o777).toBe(0o700);
    await expect(startDaemon(device)).rejects.toThrow(`depotd runs there already, as process ${first.pid}`);

    const task = await first.submit('update');
    await first.finished(task);
    await first.kill('SIGKILL');
    const next = await startDaemon(device);
    expect(await next.status(task)).toMatchObject({ running: false, kind: 'update' });
    await next.kill('SIGTERM');
  } finally {
    await device.close();
  }
});
