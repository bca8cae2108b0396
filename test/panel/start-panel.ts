import { onTestFinished } from 'vitest';

import type { DaemonOptions } from '../device/daemon-process.ts';
import { startDaemon, type TestDaemon } from '../device/daemon.ts';
import { createDevice, type DeviceOptions } from '../device/device.ts';

/** A daemon on a device whose lists were fetched. Both go away with the test. */
export async function startPanel(
  options?: DeviceOptions,
  daemonOptions?: DaemonOptions,
): Promise<TestDaemon> {
  const device = await createDevice(options);
  onTestFinished(() => device.close());
  await device.opkg('update');
  const daemon = await startDaemon(device, daemonOptions);
  onTestFinished(() => daemon.close());
  return daemon;
}
