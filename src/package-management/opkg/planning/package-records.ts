import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { splitParagraphs } from '../database/stanza.ts';
import type { OpkgConfig } from '../opkg-config.ts';
import { statusFilesIn, type Installation } from '../installation.ts';

export type PackageRecord = ReturnType<typeof emptyRecord>;

export function parseStatusRecords(text: string): PackageRecord[] {
  return splitParagraphs(text)
    .map(parseRecord)
    .filter(({ name }) => name !== '');
}

/** A field of the record, by its name in the paragraph. */
const TEXT_FIELDS: ReadonlyMap<string, TextField> = new Map<string, TextField>([
  ['Package', 'name'],
  ['Version', 'version'],
  ['Architecture', 'architecture'],
  ['Depends', 'depends'],
  ['Pre-Depends', 'depends'],
  ['Recommends', 'recommends'],
  ['Suggests', 'suggests'],
  ['Conflicts', 'conflicts'],
  ['Provides', 'provides'],
  ['Replaces', 'replaces'],
  ['Status', 'status'],
]);

type TextField = Exclude<
  {
    [Key in keyof PackageRecord]: PackageRecord[Key] extends string ? Key : never;
  }[keyof PackageRecord],
  'feed'
>;

/**
 * As opkg reads it: of each field the first line. A plan reads all of the lists so: with a map of
 * all fields it takes twice as long.
 */
export function parseRecord(paragraph: string): PackageRecord {
  const record = emptyRecord();
  for (const line of paragraph.split('\n')) {
    const colon = line.indexOf(':');
    if (colon <= 0) continue;
    const field = line.slice(0, colon);
    const key = TEXT_FIELDS.get(field);
    const value = line.slice(colon + 1).trim();
    if (key !== undefined) {
      if (key === 'replaces') record.isReplacement = record.conflicts !== '';
      record[key] =
        key === 'depends' && record.depends !== '' ? `${record.depends}, ${value}` : value;
    } else if (field === 'Filename') record.hasFile = value !== '';
    else if (field === 'Size') record.downloadBytes = bytesIn(value);
    else if (field === 'Installed-Size') record.installedBytes = bytesIn(value);
    else if (field === 'Auto-Installed') record.isAuto = value === 'yes';
    else if (field === 'Essential') record.isEssential = value === 'yes';
  }
  return record;
}

/** What of a paragraph of a list or a status file decides what opkg does; fields as they stand. */
export function emptyRecord() {
  return {
    /** Feed that offers it; empty for what the device itself has on record. */
    feed: '',
    name: '',
    version: '',
    architecture: '',
    depends: '',
    recommends: '',
    suggests: '',
    conflicts: '',
    provides: '',
    replaces: '',
    /** Whether `Conflicts` stands before `Replaces`: only then it comes in the other's place. */
    isReplacement: false,
    downloadBytes: 0,
    installedBytes: 0,
    /** Whether a feed has its file. */
    hasFile: false,
    /** `want flags state`, as in `install user installed`; empty in lists. */
    status: '',
    isAuto: false,
    isEssential: false,
  };
}

/** A size in bytes that a plan can count with; 0 if the text is none. */
export function bytesIn(text: string): number {
  const bytes = Number.parseInt(text, 10);
  return Number.isSafeInteger(bytes) && bytes > 0 ? bytes : 0;
}

/** opkg writes its status file in place within milliseconds: a short one is read again. */
const READ_TRIES = 20;
const READ_PAUSE_MS = 25;

/**
 * What opkg would read as installed. If its file is damaged, what a job would put back.
 * @returns undefined if there is no such copy
 */
export async function readStatusRecords(
  { statusCopy }: Installation,
  config: OpkgConfig,
): Promise<PackageRecord[] | undefined> {
  let text = await statusCopy.intact();
  for (let tries = 1; text === undefined && tries < READ_TRIES; tries += 1) {
    await delay(READ_PAUSE_MS);
    text = await statusCopy.intact();
  }
  text ??= await statusCopy.text();
  if (text === undefined) return undefined;
  const [, ...others] = await statusFilesIn(config);
  const further = await Promise.all(others.map((file) => readFile(file, 'utf8').catch(() => '')));
  return [text, ...further].flatMap(parseStatusRecords);
}
