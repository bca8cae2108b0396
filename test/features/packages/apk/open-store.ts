import {
  createApkDevice,
  type ApkDevice,
  type ApkDeviceOptions,
} from '../../../device/apk-device/apk-device.ts';
import { startDaemon, type TaskStatus, type TestDaemon } from '../../../device/daemon.ts';
import type { DaemonOptions } from '../../../device/daemon-process.ts';

/** A device with apk whose lists have been fetched, and the daemon that works on it. */
export interface ApkStore {
  readonly device: ApkDevice;
  readonly daemon: TestDaemon;
  /** Starts an operation and waits for its end. */
  readonly run: (
    operation: string,
    params?: Readonly<Record<string, string>>,
  ) => Promise<TaskStatus & { id: string; log: string }>;
  readonly installed: () => Promise<Record<string, unknown>[]>;
  readonly statusOf: (name: string) => Promise<Record<string, unknown>>;
  /** Versions by name of what came besides the base system. */
  readonly packages: () => Promise<Record<string, string>>;
  readonly close: () => Promise<void>;
}

const BASE = ['base-files', 'busybox', 'libc'];

export async function openApkStore(
  options: ApkDeviceOptions = {},
  daemonOptions: DaemonOptions = {},
): Promise<ApkStore> {
  const device = await createApkDevice(options);
  await device.apk('update');
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
    packages: async () =>
      Object.fromEntries(
        [...(await device.database())]
          .filter(([name]) => !BASE.includes(name))
          .map(([name, { version }]) => [name, version] as const)
          .sort(),
      ),
    close: async () => {
      await daemon.close();
      await device.close();
    },
  };
}
