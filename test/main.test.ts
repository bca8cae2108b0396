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
