import { startDaemon, type TestDaemon } from '../../device/daemon.ts';
import type { DaemonOptions } from '../../device/daemon-process.ts';
import { createDevice, type Device, type DeviceOptions } from '../../device/device.ts';
import { storeActions, type StoreActions } from './store-actions.ts';

/** A device whose lists have been fetched, and the daemon that works on it. */
export interface Store extends StoreActions {
  readonly device: Device;
  readonly daemon: TestDaemon;
  /** Versions by name of what opkg has as installed, libc aside. */
  readonly packages: () => Promise<Record<string, string>>;
  readonly close: () => Promise<void>;
}

export async function openStore(
  options: DeviceOptions = {},
  daemonOptions: DaemonOptions = {},
): Promise<Store> {
  const device = await createDevice(options);
  await device.opkg('update');
  const daemon = await startDaemon(device, daemonOptions);
  return {
    device,
    daemon,
    ...storeActions(daemon),
    packages: async () => {
      const present = [...(await device.database())].filter(
        ([name, { state }]) => name !== 'libc' && state === 'installed',
      );
      return Object.fromEntries(
        present.map(([name, { version }]) => [name, version] as const).sort(),
      );
    },
    close: async () => {
      await daemon.close();
      await device.close();
    },
  };
}

/** Names of packages that opkg has neither installed nor gone: what an interruption may leave. */
export async function halfInstalled(device: Device): Promise<string[]> {
  return [...(await device.database())]
    .filter(([, { state }]) => state !== 'installed' && state !== 'not-installed')
    .map(([name]) => name);
}
