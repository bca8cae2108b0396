import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
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
  /** Removes by hand what came besides the base system: world is then as it was. */
  readonly clear: () => Promise<void>;
  /** Waits for the copy of apk's records, which is made a moment after a job. */
  readonly recordsCopied: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** World of a device on which nothing was installed. */
export const WORLD = ['base-files', 'busybox', 'libc'];

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
  const packages = async (): Promise<Record<string, string>> =>
    Object.fromEntries(
      [...(await device.database())]
        .filter(([name]) => !WORLD.includes(name))
        .map(([name, { version }]) => [name, version] as const)
        .sort(),
    );
  return {
    device,
    daemon,
    ...storeActions(daemon),
    upload: async (bytes) => {
      const text = await (await sendFile(daemon, bytes)).text();
      const { task_id: id } = JSON.parse(text) as { task_id?: string };
      if (id === undefined) throw new Error(`cannot upload: ${text}`);
      return { ...(await daemon.finished(id)), id, log: await daemon.logOf(id) };
    },
    packages,
    clear: async () => {
      const names = Object.keys(await packages());
      if (names.length > 0) await device.apk('del', ...names);
      expect([await packages(), await device.world()]).toEqual([{}, WORLD]);
    },
    recordsCopied: async () => {
      const inRoot = (path: string): string => join(device.root, path);
      const copies = ['installed', 'world'].map((name) => inRoot(`etc/depotd/apk/before/${name}`));
      const now = await Promise.all(
        ['lib/apk/db/installed', 'etc/apk/world'].map((path) => readFile(inRoot(path))),
      );
      // World is copied last.
      await expect.poll(() => Promise.all(copies.map((copy) => readFile(copy)))).toEqual(now);
    },
    close: async () => {
      await daemon.close();
      await device.close();
    },
  };
}

/** Sends a package file. @returns the answer to that */
export async function sendFile(daemon: TestDaemon, bytes: Buffer): Promise<Response> {
  const form = new FormData();
  form.append('file', new Blob([bytes]), 'sent.apk');
  const upload = `${daemon.url}${daemon.base}/admin/store/upload?token=${await daemon.token()}`;
  return fetch(upload, { method: 'POST', body: form });
}
