import { createHash } from 'node:crypto';
import { lstat, open, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { LARGEST_EMPTY_BYTES, listedFiles } from '../changing/content-check.ts';
import { wasWrittenAfter } from './orphaned-files.ts';
import { parseStanza } from '../database/stanza.ts';
import type { PackageDatabase } from '../../database.ts';

/** Where packages are, and their records. */
export interface Locations {
  /** Folder of control files, lists of files and scripts. */
  infoDir: string;
  destination: string;
  statusFile: string;
}

/** What a file system writes at once. */
const BLOCK_BYTES = 4096;

/**
 * Of these packages those with a file that a power cut emptied: file systems write names and sizes
 * before contents, so that it has no length, or begins with zeros, or is not there. Only what
 * changed after `since` (Unix seconds) is looked at: an empty file that was there before is meant.
 */
export async function findEmptied(
  locations: Locations,
  names: readonly string[],
  since: number,
): Promise<string[]> {
  const found = [];
  for (const name of names) if (await isEmptied(locations, name, since)) found.push(name);
  return found;
}

/**
 * Removes configuration files of these packages that a power cut emptied after `since`: opkg would
 * take one for its owner's, keep it, and lay that of the package beside it.
 */
export async function removeEmptiedSettings(
  locations: Locations,
  names: readonly string[],
  since: number,
): Promise<void> {
  for (const name of names) {
    for (const [file, hash] of hashesOfConffiles(await recordOf(locations, name))) {
      const path = join(locations.destination, file);
      if (await isLost(path, hash, since)) await rm(path);
    }
  }
}

/** The packages whose files, by their records, were written after `since` (Unix seconds). */
export async function writtenAfter(infoDir: string, since: number): Promise<string[]> {
  const names = new Set<string>();
  for (const file of await readdir(infoDir).catch(() => [])) {
    const [, name] = /^(.+)\.(?:list|control)$/.exec(file) ?? [];
    if (name !== undefined && (await wasWrittenAfter(join(infoDir, file), since))) names.add(name);
  }
  return [...names].sort();
}

/** Of these packages those whose files are not of the version on record, which was put back. */
export async function findOtherVersions(
  locations: Pick<Locations, 'infoDir'>,
  names: readonly string[],
  database: PackageDatabase,
): Promise<string[]> {
  const found = [];
  for (const name of names) {
    const control = await readFile(join(locations.infoDir, `${name}.control`), 'latin1');
    const version = parseStanza(control.replaceAll('\0', '')).get('Version');
    if (version !== undefined && version !== database.get(name)?.version) found.push(name);
  }
  return found;
}

async function isEmptied(locations: Locations, name: string, since: number): Promise<boolean> {
  const { infoDir, destination } = locations;
  const control = await readFile(join(infoDir, `${name}.control`), 'latin1').catch(() => '');
  const files = await listedFiles(infoDir, name);
  const stanza = parseStanza(control.replaceAll('\0', ''));
  if (!stanza.has('Package')) return true;
  if (files.length === 0) return Number(stanza.get('Installed-Size') ?? 0) > LARGEST_EMPTY_BYTES;
  if (files.some((file) => !file.startsWith('/') || file.includes('\0'))) return true;
  const hashes = hashesOfConffiles(await recordOf(locations, name));
  for (const file of files) {
    const path = join(destination, file);
    const hash = hashes.get(file);
    if (hash === undefined ? await isHollow(path, since) : await isLost(path, hash, since)) {
      return true;
    }
  }
  return false;
}

async function isHollow(path: string, since: number): Promise<boolean> {
  const entry = await lstat(path).catch(() => undefined);
  if (entry === undefined) return true;
  return entry.isFile() && (await wasWrittenAfter(path, since)) && hasNoContent(path);
}

/** Its owner may have removed or changed it; an empty one is as it came if the record says so. */
async function isLost(path: string, hash: string, since: number): Promise<boolean> {
  const entry = await lstat(path).catch(() => undefined);
  if (entry?.isFile() !== true || !(await wasWrittenAfter(path, since))) return false;
  if (!(await hasNoContent(path))) return false;
  const content = await readFile(path);
  const name = hash.length === 64 ? 'sha256' : 'md5';
  return createHash(name).update(content).digest('hex') !== hash;
}

async function hasNoContent(path: string): Promise<boolean> {
  const file = await open(path).catch(() => undefined);
  if (file === undefined) return true;
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(BLOCK_BYTES), 0, BLOCK_BYTES, 0);
    return buffer.subarray(0, bytesRead).every((byte) => byte === 0);
  } finally {
    await file.close();
  }
}

/** The paragraph of the status file; empty if there is none. */
async function recordOf({ statusFile }: Locations, name: string): Promise<string> {
  const status = await readFile(statusFile, 'utf8').catch(() => '');
  return status.split('\n\n').find((text) => text.includes(`Package: ${name}\n`)) ?? '';
}

/** As opkg has them on record: of each its path and the hash of what came. */
function hashesOfConffiles(record: string): Map<string, string> {
  const lines = /^Conffiles:\n((?: .*\n?)*)/m.exec(record)?.[1]?.split('\n') ?? [];
  return new Map(
    lines.flatMap((line) => {
      const [path, hash] = line.trim().split(' ');
      return path && hash ? [[path, hash] as const] : [];
    }),
  );
}
