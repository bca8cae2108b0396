import { constants, stat } from 'node:fs/promises';
import { isThere } from '../device/is-there.ts';
import type { Paths } from '../device/paths.ts';
import { APK } from './apk/backend.ts';
import { OPKG } from './opkg/create-opkg.ts';
import type { PackageBackend } from './manager.ts';

/** The package managers that depotd can work with, the likeliest first. */
export const BACKENDS: readonly [PackageBackend, ...PackageBackend[]] = [OPKG, APK];

/**
 * The manager whose database the device uses. If none has packages, as after a power cut, the
 * one whose program is there, else the first: its answers say what is missing.
 * @param wanted option `packages.manager`: `auto`, or the name of one
 */
export async function selectManager(
  paths: Paths,
  wanted: string,
  backends: typeof BACKENDS = BACKENDS,
): Promise<PackageBackend> {
  const named = backends.find(({ name }) => name === wanted);
  if (named !== undefined) return named;
  const inUse = await filter(backends, (backend) => hasRecords(paths, backend));
  const likely = inUse.length > 0 ? inUse : backends;
  const runnable = await filter(likely, (backend) => hasProgram(paths, backend));
  return (runnable.length === 1 ? runnable[0] : likely[0]) ?? backends[0];
}

async function hasRecords({ onDevice }: Paths, { record }: PackageBackend): Promise<boolean> {
  const { size } = await stat(onDevice(record)).catch(() => ({ size: 0 }));
  return size > 0;
}

/** A device that went from one to the other may have records of both. */
async function hasProgram({ onDevice }: Paths, { programs = [] }: PackageBackend) {
  const found = await filter(programs, (program) => isThere(onDevice(program), constants.X_OK));
  return found.length > 0;
}

async function filter<Item>(
  items: readonly Item[],
  isWanted: (item: Item) => Promise<boolean>,
): Promise<Item[]> {
  const wanted = await Promise.all(items.map(isWanted));
  return items.filter((_, index) => wanted[index]);
}
