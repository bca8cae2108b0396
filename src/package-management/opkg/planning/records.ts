import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What of a paragraph of a list or a status file decides what opkg does; fields as they stand. */
export interface PackageRecord {
  /** That offers it; empty for what the device itself has on record. */
  feed: string;
  name: string;
  version: string;
  architecture: string;
  depends: string;
  recommends: string;
  suggests: string;
  conflicts: string;
  provides: string;
  replaces: string;
  /** Whether `Conflicts` stands before `Replaces`: only then it comes in the other's place. */
  isReplacement: boolean;
  downloadBytes: number;
  installedBytes: number;
  /** Empty if no feed has a file of it. */
  fileName: string;
  /** `want flags state`, as in `install user installed`; empty in lists. */
  status: string;
  isAuto: boolean;
  isEssential: boolean;
}

export function parseStatusRecords(text: string): PackageRecord[] {
  return text
    .split(/\n(?:[ \t]*\n)+/)
    .filter((paragraph) => /^Package:/m.test(paragraph))
    .map(parseRecord);
}

/** What the package's control file says that it takes; undefined if it does not say. */
export async function readInstalledBytes(
  infoDir: string,
  name: string,
): Promise<number | undefined> {
  const text = await readFile(join(infoDir, `${name}.control`), 'utf8').catch(() => '');
  const [, bytes] = /^Installed-Size:[ \t]*(\d+)/m.exec(text) ?? [];
  return bytes === undefined ? undefined : Number(bytes);
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
  ['Filename', 'fileName'],
  ['Status', 'status'],
]);

type TextField = Exclude<
  {
    [Key in keyof PackageRecord]: PackageRecord[Key] extends string ? Key : never;
  }[keyof PackageRecord],
  'feed'
>;

export function parseRecord(paragraph: string): PackageRecord {
  const record = emptyRecord();
  for (const line of paragraph.split('\n')) {
    const colon = line.indexOf(':');
    if (colon <= 0) continue;
    const field = line.slice(0, colon);
    const key = TEXT_FIELDS.get(field);
    if (key !== undefined) {
      if (key === 'replaces') record.isReplacement = record.conflicts !== '';
      const value = line.slice(colon + 1).trim();
      record[key] =
        key === 'depends' && record.depends !== '' ? `${record.depends}, ${value}` : value;
    } else if (field === 'Size') record.downloadBytes = numberIn(line, colon);
    else if (field === 'Installed-Size') record.installedBytes = numberIn(line, colon);
    else if (field === 'Auto-Installed') record.isAuto = line.slice(colon + 1).trim() === 'yes';
    else if (field === 'Essential') record.isEssential = line.slice(colon + 1).trim() === 'yes';
  }
  return record;
}

function numberIn(line: string, colon: number): number {
  const value = Number.parseInt(line.slice(colon + 1), 10);
  return Number.isSafeInteger(value) && value > 0 ? value : 0;
}

export function emptyRecord(): PackageRecord {
  return {
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
    isReplacement: false,
    downloadBytes: 0,
    installedBytes: 0,
    fileName: '',
    status: '',
    isAuto: false,
    isEssential: false,
  };
}
