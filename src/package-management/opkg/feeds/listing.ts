import { stat, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileVersion } from '../../../device/file-version.ts';
import {
  pathsIn,
  type OfferedPackage,
  type PackageDescription,
  type PackageListing,
  type PackageRecord,
  type PackageSummary,
  countIn,
  cutEntries,
  cutLine,
  LISTING_LIMITS,
} from '../../listing.ts';
import { isPackageName, isOfApp } from '../../names.ts';
import { isPresent } from '../../database.ts';
import type { OpkgConfig } from '../opkg-config.ts';
import { statusFileIn, type Installation } from '../installation.ts';
import { listFiles } from './lists.ts';
import { readParagraphs, readUpToFault } from './paragraphs.ts';
import { parseDepends, parseNames, parseStanza, type Stanza } from '../database/stanza.ts';

type Records = Pick<Installation, 'readConfig' | 'read'>;

/** The lists that opkg has fetched, and its records of each package, read without opkg. */
export function createListing(records: Records): PackageListing {
  const { readConfig } = records;
  return {
    version: async () => {
      const config = await readConfig();
      const files = await Promise.all(
        (await listFiles(config)).map(async (file) => `${file} ${(await fileVersion(file)) ?? ''}`),
      );
      return [...config.architectures.keys(), ...files].join('\n');
    },
    read: async function* (names) {
      const config = await readConfig();
      const wanted = names === undefined ? undefined : new Set(names);
      const isWanted = (name: string): boolean => wanted?.has(name) !== false;
      for (const file of await listFiles(config)) {
        const feed = basename(file);
        for await (const paragraph of readParagraphs(readUpToFault(file), isWanted)) {
          const offer = describeParagraph(paragraph, feed);
          if (isUsable(offer, config)) yield offer;
        }
      }
    },
    summarize: async (visit) => {
      const config = await readConfig();
      for (const file of await listFiles(config)) {
        const feed = basename(file);
        for await (const piece of readUpToFault(file)) {
          // As one text: each decoded by itself would keep buffers of some hundred pieces waiting.
          for (const paragraph of piece.toString().split(EMPTY_LINES)) {
            const offer = summaryOf(parseStanza(paragraph), feed);
            if (isUsable(offer, config) && !visit(offer)) return;
          }
        }
      }
    },
    readInstalled: async function* (names) {
      for (const name of names) {
        const described = await readControl(records, name);
        if (described !== undefined) yield described;
      }
    },
    record: (name) => readRecord(records, name),
  };
}

/** Lines between paragraphs, with nothing but blanks in them. */
const EMPTY_LINES = /\n(?:[ \t\r]*\n)+/;

function isUsable(
  { name, version, architecture }: OpkgSummary,
  { architectures }: OpkgConfig,
): boolean {
  const isFitting = architectures.size === 0 || architectures.has(architecture);
  return isFitting && version !== '' && isPackageName(name);
}

/** Control files have less than a page; what is larger is none. */
const MOST_CONTROL_BYTES = 64 * 1024;
/** Largest list of a package's files: some packages bring thousands. */
const MOST_LIST_BYTES = 4 * 1024 ** 2;

async function readControl(
  records: Records,
  name: string,
): Promise<PackageDescription | undefined> {
  const text = await readInfo(await records.readConfig(), `${name}.control`, MOST_CONTROL_BYTES);
  const described = text === undefined ? undefined : describeParagraph(text);
  return described?.name === name ? described : undefined;
}

async function readRecord(records: Records, name: string): Promise<PackageRecord | undefined> {
  const entry = (await records.read()).get(name);
  if (!isPackageName(name) || !isPresent(entry)) return undefined;
  const settings = await records.readConfig();
  const [files = '', config = ''] = await Promise.all([
    readInfo(settings, `${name}.list`, MOST_LIST_BYTES),
    readInfo(settings, `${name}.conffiles`, MOST_CONTROL_BYTES),
  ]);
  return { files: pathsIn(files), config: pathsIn(config), installedAt: entry.installedAt };
}

/** A file beside the status file of the destination that the package was installed to. */
async function readInfo({ destinations }: OpkgConfig, file: string, mostBytes: number) {
  for (const destination of destinations) {
    const path = join(dirname(statusFileIn(destination)), 'info', file);
    const entry = await stat(path).catch(() => undefined);
    if (entry?.isFile() !== true || entry.size > mostBytes) continue;
    const text = await readFile(path, 'utf8').catch(() => undefined);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** `architecture` says whether it can be installed here. */
type OpkgDescription = OfferedPackage & { architecture: string };
type OpkgSummary = PackageSummary & { architecture: string };

/**
 * A package as a list or a control file has it (Debian policy, section 5.1;
 * docs/reference/opkg.md).
 * @param feed empty for the device's own records
 */
function describeParagraph(paragraph: string, feed = ''): OpkgDescription {
  const stanza = parseStanza(paragraph);
  const line = lineIn(stanza);
  return {
    ...summaryOf(stanza, feed),
    depends: dependsIn(stanza),
    provides: namesIn(stanza, 'Provides'),
    conflicts: namesIn(stanza, 'Conflicts'),
    isEssential: line('Essential') === 'yes',
    homepage: line('URL') || line('Homepage'),
    license: line('License'),
    maintainer: line('Maintainer'),
    sha256: line('SHA256sum') || undefined,
  };
}

function summaryOf(stanza: Stanza, feed: string): OpkgSummary {
  const line = lineIn(stanza);
  const name = line('Package');
  return {
    feed,
    name,
    version: line('Version'),
    architecture: line('Architecture'),
    section: line('Section'),
    description: textOf(stanza.get('Description') ?? ''),
    tags: namesIn(stanza, 'Tags'),
    downloadBytes: countIn(line('Size')),
    installedBytes: countIn(line('Installed-Size')),
    depends: isOfApp(name) ? dependsIn(stanza) : [],
    time: countIn(line('SourceDateEpoch')),
  };
}

function lineIn(stanza: Stanza): (field: string) => string {
  return (field) => cutLine(stanza.get(field) ?? '');
}

function namesIn(stanza: Stanza, field: string): string[] {
  return cutEntries(parseNames(stanza.get(field)));
}

function dependsIn(stanza: Stanza): string[][] {
  return cutEntries(parseDepends(stanza.get('Depends')));
}

/** Text of a field with several lines; one of a dot is empty (Debian policy, section 5.6.13). */
function textOf(field: string): string {
  return field.replace(/^\.$/gm, '').trim().slice(0, LISTING_LIMITS.descriptionCharacters);
}
