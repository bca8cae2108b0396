import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

import { runCommand } from '../device/command.ts';
import { createDevice, type Device } from '../device/device.ts';
import type { FeedVersion } from '../device/packages/packages.ts';
import { createContainerData, type ContainerData } from './container-data.ts';
import { faultPackages } from './packages.ts';
import { createPrograms, type Programs } from './programs.ts';
import { storePackage, type StoreBehaviour } from './store-package.ts';

/** A device that can be put back into a state that was kept, and programs that can fail. */
export interface Bench {
  readonly device: Device;
  readonly programs: Programs;
  /** The control files of a try; not on the device's disk. */
  readonly folder: string;
  /** A file that fills the device's disk; empty if the device has no disk of its own. */
  readonly filler: string;
  /** For moves; undefined if this machine lets nobody make disks. */
  readonly containers: ContainerData | undefined;
  /** @param store the daemon itself as a package, too, which then behaves so */
  readonly publish: (version: FeedVersion, store?: StoreBehaviour) => void;
  /** Keeps the device as it is now under a name. */
  readonly keep: (name: string) => Promise<void>;
  /** Makes the device what it was, and forgets what the last try left. */
  readonly restore: (name: string) => Promise<void>;
  /** Lines that the processes of the last try left in the file of that name. */
  readonly lines: (name: string) => Promise<string[]>;
  readonly close: () => Promise<void>;
}

const DISK_SIZE = '24m';

export async function createBench(): Promise<Bench> {
  const directory = await mkdtemp(join(tmpdir(), 'depotd-faults-'));
  const folder = join(directory, 'control');
  const root = join(directory, 'device/root');
  await mkdir(folder);
  await mkdir(root, { recursive: true });
  const hasDisk = await mountDisk(root);
  const opkg = process.env.OPKG ?? join(import.meta.dirname, '../device/bin/opkg');
  const programs = await createPrograms(folder, { opkg, rsync: '/usr/bin/rsync' });
  const device = await createDevice({ directory: join(directory, 'device') });
  const path = [programs.bin, process.env.PATH ?? ''].join(delimiter);
  const containers = await createContainerData(directory);
  const keptAt = (name: string): string => join(directory, `kept-${name}`);
  return {
    device: { ...device, path, env: { ...device.env, PATH: path, DEPOTD_FAULT_FOLDER: folder } },
    programs,
    folder,
    filler: hasDisk ? join(root, 'filler') : '',
    containers,
    publish: (version, store) => {
      const packages = faultPackages(version, programs.beginWork);
      const own = store === undefined ? [] : [storePackage(version, store)];
      device.feed.publish([...packages, ...own]);
    },
    keep: (name) => copyFolder(root, keptAt(name)),
    restore: async (name) => {
      await programs.behave();
      for (const entry of await readdir(root)) {
        await rm(join(root, entry), { recursive: true, force: true });
      }
      await copyFolder(keptAt(name), root);
      for (const entry of ['working', 'overlaps', 'events']) {
        await rm(join(folder, entry), { recursive: true, force: true });
      }
      await mkdir(join(folder, 'working'));
      await writeFile(join(folder, 'events'), '');
    },
    lines: async (name) =>
      (await readFile(join(folder, name), 'utf8').catch(() => '')).split('\n').filter(Boolean),
    close: async () => {
      await containers?.close();
      if (hasDisk) await runCommand(['umount', '-l', root]);
      await device.close();
      await rm(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
}

/** A small disk of its own, which really fills up: root may mount one. */
async function mountDisk(root: string): Promise<boolean> {
  if (process.getuid?.() !== 0) return false;
  const words = ['-t', 'tmpfs', '-o', `size=${DISK_SIZE},mode=0755`, 'tmpfs', root];
  return (await runCommand(['mount', ...words])).code === 0;
}

async function copyFolder(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  const { code, stderr } = await runCommand(['cp', '-a', `${from}/.`, to]);
  if (code !== 0) throw new Error(`cannot copy ${from}: ${stderr}`);
}
