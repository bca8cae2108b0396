import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect } from 'vitest';
import {
  createApkDevice,
  type ApkDevice,
  type ApkDeviceOptions,
} from '../../device/apk-device/apk-device.ts';
import type { ApkFeedPackage } from '../../device/apk-device/apk-index.ts';
import { startDaemon, type TaskStatus, type TestDaemon } from '../../device/daemon.ts';
import type { DaemonOptions } from '../../device/daemon-process.ts';
import { storeActions, type StoreActions } from '../../features/packages/store-actions.ts';

/** A device with apk whose lists have been fetched, and the daemon that works on it. */
export interface ApkStore extends StoreActions {
  readonly device: ApkDevice;
  readonly daemon: TestDaemon;
  /** Sends a package file, and waits for the end of its installation. */
  readonly upload: (bytes: Buffer) => Promise<TaskStatus & { id: string; log: string }>;
  /** Versions by name of what came besides the base system. */
  readonly packages: () => Promise<Record<string, string>>;
  /** Waits for the copy of apk's records, which is made a moment after a job. */
  readonly recordsCopied: () => Promise<void>;
  readonly close: () => Promise<void>;
}

const BASE = ['base-files', 'busybox', 'libc'];

/** A package with a program of its name, which says its version. */
export const oneProgram = (
  name: string,
  version: string,
  more: Partial<ApkFeedPackage> = {},
): ApkFeedPackage => ({
  name,
  version,
  ...more,
  files: { [`/usr/bin/${name}`]: `${name} ${version}\n`, ...more.files },
});

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
    ...storeActions(daemon),
    upload: async (bytes) => {
      const form = new FormData();
      form.append('file', new Blob([bytes]), 'sent.apk');
      const answer = await fetch(
        `${daemon.url}${daemon.base}/admin/store/upload?token=${await daemon.token()}`,
        { method: 'POST', body: form },
      );
      const text = await answer.text();
      const { task_id: id } = JSON.parse(text) as { task_id?: string };
      if (id === undefined) throw new Error(`cannot upload: ${text}`);
      return { ...(await daemon.finished(id)), id, log: await daemon.logOf(id) };
    },
    packages: async () =>
      Object.fromEntries(
        [...(await device.database())]
          .filter(([name]) => !BASE.includes(name))
          .map(([name, { version }]) => [name, version] as const)
          .sort(),
      ),
    recordsCopied: async () => {
      const copy = join(device.root, 'etc/depotd/apk/before/installed.gz');
      const now = await readFile(join(device.root, 'lib/apk/db/installed'));
      await expect.poll(async () => gunzipSync(await readFile(copy))).toEqual(now);
      // The note of what was copied comes last, by rename.
      const folder = join(device.root, 'etc/depotd/apk/before');
      await expect.poll(() => readdir(folder)).not.toContain('versions.json.new');
    },
    close: async () => {
      await daemon.close();
      await device.close();
    },
  };
}
