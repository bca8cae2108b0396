import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sizeText } from '../../../format-bytes.ts';
import type { Failure } from '../../failure.ts';
import type { InstalledPackage, PackageDatabase } from '../../database.ts';
import { compareVersions } from '../compare-versions.ts';
import { parseStanza } from '../database/stanza.ts';
import { parseStatus } from '../database/status-file.ts';

interface Locations {
  /** Of the root: other destinations have their own, and packages go there by hand alone. */
  statusFile: string;
  /** Folder of control files, lists of files and scripts. */
  infoDir: string;
}

/**
 * Of the packages that a command brought, the first that is on record as installed, and is not:
 * opkg installs whatever has the checksum of the feed's list, a page or half a package, too, and
 * ends with 0 (docs/reference/opkg.md). It has no control file then, or the one of the version
 * before; or no file, though it says that it has some.
 */
export async function findHollow(
  before: PackageDatabase,
  locations: Locations,
): Promise<Failure | undefined> {
  const after = parseStatus(await readFile(locations.statusFile, 'utf8'));
  for (const entry of after.values()) {
    const known = before.get(entry.name);
    const isNew = known?.state !== 'installed' || known.version !== entry.version;
    if (entry.state !== 'installed' || !isNew) continue;
    const reason = await faultOf(entry, locations);
    if (reason !== undefined) return { code: 'damaged_package', package: entry.name, reason };
  }
  return undefined;
}

async function faultOf(
  { name, version }: InstalledPackage,
  { infoDir }: Locations,
): Promise<string | undefined> {
  const text = await readFile(join(infoDir, `${name}.control`), 'utf8').catch(() => '');
  const control = parseStanza(text);
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

/** Each absolute, as its record has them; none without a record. */
export async function listedFiles(infoDir: string, name: string): Promise<string[]> {
  const list = await readFile(join(infoDir, `${name}.list`), 'utf8').catch(() => '');
  return list.split('\n').flatMap((line) => line.split('\t')[0] || []);
}

/** OpenWrt's builder gives the size of the archive: of one without files, 10240 bytes. */
export const LARGEST_EMPTY_BYTES = 20 * 1024;
