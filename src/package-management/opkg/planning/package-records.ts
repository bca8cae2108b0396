import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { splitParagraphs } from '../database/stanza.ts';
import type { OpkgConfig } from '../opkg-config.ts';
import { statusFilesIn, type Installation } from '../installation.ts';

export type PackageRecord = ReturnType<typeof emptyRecord>;

type TextField = Exclude<
  {
    [Key in keyof PackageRecord]: PackageRecord[Key] extends string ? Key : never;
  }[keyof PackageRecord],
  'feed'
>;
type SetField = (record: PackageRecord, value: string) => void;

const keepText =
  (key: TextField): SetField =>
  (record, value) => {
    record[key] = value;
  };

const setDepends: SetField = (record, value) => {
  record.depends = record.depends === '' ? value : `${record.depends}, ${value}`;
};

/** Fields of a paragraph that decide what opkg does, each with what it sets in the record. */
export const RECORD_FIELDS: readonly (readonly [field: string, set: SetField])[] = [
  ['Package', keepText('name')],
  ['Version', keepText('version')],
  ['Architecture', keepText('architecture')],
  ['Depends', setDepends],
  ['Pre-Depends', setDepends],
  ['Recommends', keepText('recommends')],
  ['Suggests', keepText('suggests')],
  ['Conflicts', keepText('conflicts')],
  ['Provides', keepText('provides')],
  [
    'Replaces',
    (record, value) => {
      record.isReplacement = record.conflicts !== '';
      record.replaces = value;
    },
  ],
  ['Status', keepText('status')],
  ['Filename', (record, value) => (record.hasFile = value !== '')],
  ['Size', (record, value) => (record.downloadBytes = bytesIn(value))],
  ['Installed-Size', (record, value) => (record.installedBytes = bytesIn(value))],
  ['Auto-Installed', (record, value) => (record.isAuto = value === 'yes')],
  ['Essential', (record, value) => (record.isEssential = value === 'yes')],
];
const SETTERS = new Map(RECORD_FIELDS);

/** As opkg reads it: of each field the first line. */
export function parseRecord(paragraph: string): PackageRecord {
  const record = emptyRecord();
  for (const line of paragraph.split('\n')) {
    const colon = line.indexOf(':');
    SETTERS.get(line.slice(0, Math.max(colon, 0)))?.(record, line.slice(colon + 1).trim());
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
  const records = [text, ...further].flatMap(splitParagraphs).map(parseRecord);
  return records.filter(({ name }) => name !== '');
}
