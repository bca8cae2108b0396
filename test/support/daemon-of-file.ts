import { beforeAll } from 'vitest';

import type { DaemonOptions } from '../device/daemon-process.ts';
import { startDaemon, type TestDaemon } from '../device/daemon.ts';
import { createDevice } from '../device/device.ts';

/** One daemon on a device of its own for all tests of a file; there from its first hook on. */
export function daemonOfFile(options: DaemonOptions = {}): TestDaemon {
  let daemon: TestDaemon | undefined;
  beforeAll(async () => {
    const device = await createDevice();
    daemon = await startDaemon(device, options);
    return async () => {
      await daemon?.close();
      await device.close();
    };
  });
  return new Proxy({} as TestDaemon, {
    get: (_, name) => {
      if (daemon === undefined) throw new Error('no daemon yet: no test of this file has begun');
      return Reflect.get(daemon, name) as unknown;
    },
  });
}
