import { startDaemon, type TestDaemon, type TaskStatus } from '../../device/daemon.ts';
import type { DaemonOptions } from '../../device/daemon-process.ts';
import { createDevice, type Device, type DeviceOptions } from '../../device/device.ts';

/** A device whose lists have been fetched, and the daemon that works on it. */
export interface Store {
  readonly device: Device;
  readonly daemon: TestDaemon;
  /** Starts an operation and waits for its end. */
  readonly run: (
    operation: string,
    params?: Readonly<Record<string, string>>,
  ) => Promise<TaskStatus & { id: string; log: string }>;
  readonly installed: () => Promise<Record<string, unknown>[]>;
  readonly statusOf: (name: string) => Promise<Record<string, unknown>>;
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
    run: async (operation, params) => {
      const id = await daemon.submit(operation, params);
      const status = await daemon.finished(id);
      return { ...status, id, log: await daemon.logOf(id) };
    },
    installed: async () =>
      (await (await daemon.get('admin/store/installed')).json()) as Record<string, unknown>[],
    statusOf: async (name) =>
      (await (await daemon.get(`admin/store/status?package=${name}`)).json()) as Record<
        string,
        unknown
      >,
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
