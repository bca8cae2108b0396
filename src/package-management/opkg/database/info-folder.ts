import { lstat, readdir, readFile } from 'node:fs/promises';
import { join, parse } from 'node:path';
import { parseStanza, type Stanza } from './stanza.ts';
import { isPresent, type PackageDatabase } from '../../database.ts';
import type { FileRecord } from '../../listing.ts';
import { readConffiles } from './status-file.ts';

/** What the control file of a package says, without the zeros that a power cut may leave in it. */
export async function readControl(infoDir: string, name: string): Promise<Stanza> {
  const text = await readFile(join(infoDir, `${name}.control`), 'utf8').catch(() => '');
  return parseStanza(text.replaceAll('\0', ''));
}

/**
 * The files of a package as its record has them, one absolute path a line, sometimes with a tab
 * and a checksum behind it; none without a record.
 */
export async function listedFiles(infoDir: string, name: string): Promise<string[]> {
  return readListedFiles(infoDir, name).catch(() => []);
}

/** @throws an Error of Node if there is no record, or it cannot be read */
export async function readListedFiles(infoDir: string, name: string): Promise<string[]> {
  const list = await readFile(join(infoDir, `${name}.list`), 'utf8');
  return list.split('\n').flatMap((line) => line.split('\t')[0] || []);
}

/** Whether `NAME.control` and the like is of this package: the endings have no dot. */
export function isInfoOf(file: string, name: string): boolean {
  return parse(file).name === name;
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

/** @param since Unix seconds; one is given away, for clocks of different grain */
export async function wasWrittenAfter(file: string, since: number): Promise<boolean> {
  const entry = await lstat(file).catch(() => undefined);
  return entry !== undefined && entry.ctimeMs >= (since - 1) * 1000;
}

/** opkg records a hash of configuration files alone. */
export async function* fileRecords(
  { infoDir, statusFile }: { infoDir: string; statusFile: string },
  database: PackageDatabase,
): AsyncGenerator<FileRecord> {
  const conffiles = await readConffiles(statusFile);
  const hashes = new Map(conffiles.map(({ path, hash }) => [path, hash]));
  for (const { name, installedAt } of [...database.values()].filter(isPresent)) {
    const built = Number((await readControl(infoDir, name)).get('SourceDateEpoch')) || 0;
    for (const path of await listedFiles(infoDir, name)) {
      const digits = hashes.get(path);
      yield {
        owner: name,
        path,
        isConfig: digits !== undefined,
        ...(digits === undefined
          ? { times: { built, installed: installedAt } }
          : { hash: { algorithm: digits.length === 64 ? 'sha256' : 'md5', digits } }),
      };
    }
  }
}
