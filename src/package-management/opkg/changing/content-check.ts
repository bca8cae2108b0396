import { readFile } from 'node:fs/promises';
import { sizeText } from '../../../format-bytes.ts';
import type { Failure } from '../../failure.ts';
import type { InstalledPackage, PackageDatabase } from '../../database.ts';
import { compareVersions } from '../compare-versions.ts';
import type { Installation } from '../installation.ts';
import { listedFiles, readControl } from '../database/info-folder.ts';
import { parseStatus } from '../database/status-file.ts';

/**
 * Of the packages that a command brought, the first that is on record as installed, and is not:
 * opkg installs whatever has the checksum of the feed's list, a page or half a package, too, and
 * ends with 0 (docs/reference/opkg.md). It has no control file then, or the one of the version
 * before; or no file, though it says that it has some.
 */
export async function findHollow(
  before: PackageDatabase,
  locations: Pick<Installation, 'statusFile' | 'infoDir'>,
): Promise<Failure | undefined> {
  const after = parseStatus(await readFile(locations.statusFile, 'utf8'));
  for (const entry of after.values()) {
    const known = before.get(entry.name);
    const isNew = known?.state !== 'installed' || known.version !== entry.version;
    if (entry.state !== 'installed' || !isNew) continue;
    const reason = await faultOf(entry, locations.infoDir);
    if (reason !== undefined) return { code: 'damaged_package', package: entry.name, reason };
  }
  return undefined;
}

async function faultOf({ name, version }: InstalledPackage, infoDir: string) {
  const control = await readControl(infoDir, name);
  if (compareVersions(control.get('Version') ?? '', version) !== 0) {
    return `the file of ${name} is damaged: it describes no package of that version`;
  }
  const files = await listedFiles(infoDir, name);
  const size = Number(control.get('Installed-Size') ?? 0);
  return files.length === 0 && size > LARGEST_EMPTY_BYTES
    ? `none of the ${sizeText(size)} of ${name} is there: its file is damaged, or another ` +
        'package took its place'
    : undefined;
}

/** OpenWrt's builder gives the size of the archive: of one without files, 10240 bytes. */
export const LARGEST_EMPTY_BYTES = 20 * 1024;
