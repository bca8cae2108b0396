import { afterAll, beforeAll, onTestFinished } from 'vitest';

import type { DaemonOptions } from '../device/daemon-process.ts';
import { startDaemon, type TestDaemon } from '../device/daemon.ts';
import { createDevice, type Device, type DeviceOptions } from '../device/device.ts';

/** A daemon on a device whose lists were fetched. Both go away with the test. */
export async function startPanel(
  options?: DeviceOptions,
  daemonOptions?: DaemonOptions,
): Promise<TestDaemon> {
  return (await startPanelDevice(options, daemonOptions)).daemon;
}

/** The same with its device. @param prepare what happens to it before the daemon starts */
export async function startPanelDevice(
  options?: DeviceOptions,
  daemonOptions?: DaemonOptions,
  prepare?: (device: Device) => Promise<unknown>,
): Promise<PanelDevice> {
  const { close, ...opened } = await openPanelDevice(options, daemonOptions, prepare);
  onTestFinished(close);
  return opened;
}

interface PanelDevice {
  device: Device;
  daemon: TestDaemon;
}

/** The same for all tests of a file or of a group: they find what those before them have left. */
export function sharePanel(
  options?: DeviceOptions,
  daemonOptions: DaemonOptions | (() => Promise<DaemonOptions>) = {},
  prepare: (daemon: TestDaemon) => Promise<unknown> = () => Promise.resolve(),
): () => TestDaemon {
  let opened: Awaited<ReturnType<typeof openPanelDevice>>;
  beforeAll(async () => {
    const ofDaemon = typeof daemonOptions === 'function' ? await daemonOptions() : daemonOptions;
    opened = await openPanelDevice(options, ofDaemon);
    await prepare(opened.daemon);
  });
  afterAll(() => opened.close());
  return () => opened.daemon;
}

async function openPanelDevice(
  options?: DeviceOptions,
  daemonOptions?: DaemonOptions,
  prepare?: (device: Device) => Promise<unknown>,
): Promise<PanelDevice & { close: () => Promise<void> }> {
  const device = await createDevice(options);
  await device.opkg('update');
  await prepare?.(device);
  const daemon = await startDaemon(device, daemonOptions);
  return {
    device,
    daemon,
    close: async () => {
      await daemon.close();
      await device.close();
    },
  };
}
