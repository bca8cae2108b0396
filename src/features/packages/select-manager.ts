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
export async function selectManager(
  paths: Paths,
  wanted: string,
  backends: typeof BACKENDS = BACKENDS,
): Promise<PackageBackend> {
  const named = backends.find(({ name }) => name === wanted);
  if (named !== undefined) return named;
  for (const backend of backends) if (await backend.isInUse(paths)) return backend;
  return backends[0];
}
