import type { Paths } from '../../device/paths.ts';
import { OPKG } from './opkg/create-opkg.ts';
import type { PackageBackend } from './package-manager.ts';

/** The package managers that depotd can work with, the likeliest first. */
export const BACKENDS: readonly [PackageBackend, ...PackageBackend[]] = [OPKG];

/**
 * The one whose database the device uses. If none has packages on record, the first: its answers
 * say what is missing.
 * @param wanted option `packages.manager`: `auto`, or the name of one
 */
export async function selectManager(paths: Paths, wanted: string): Promise<PackageBackend> {
  const named = BACKENDS.find(({ name }) => name === wanted);
  if (named !== undefined) return named;
  for (const backend of BACKENDS) if (await backend.isInUse(paths)) return backend;
  return BACKENDS[0];
}
