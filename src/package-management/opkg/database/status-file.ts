import { readFile, stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { createSequence } from '../../../device/concurrency-limit.ts';
import { rewriteFile } from '../../../device/durable-file.ts';
import { versionOf } from '../../../device/file-version.ts';
import type { Paths } from '../../../device/paths.ts';
import { unlessShort } from '../../../device/shortage.ts';
import { ifThere } from '../../../errors.ts';
import { isPresent, type InstalledPackage, type PackageDatabase } from '../../database.ts';
import { parseDepends, parseNames, parseStanza, parseStanzas, type Stanza } from './stanza.ts';

/**
 * Reads opkg's status file without opkg. Invariants:
 *  - a reader never takes opkg's lock and never waits for a running opkg;
 *  - opkg rewrites the file in place, so a reading counts only when the file ended well, did not
 *    change while it was read, and, while somebody holds the lock, has lost nothing that the last
 *    good reading had; else the last good reading is the answer;
 *  - a package is not believed to be gone while its control file is there, which opkg removes
 *    first: not everybody takes the lock;
 *  - a file that is not touched is not parsed again.
 */
export type DatabaseReader = ReturnType<typeof createDatabaseReader>;

type Packages = Map<string, InstalledPackage>;

interface Reading {
  version: string;
  packages: Packages;
}

/** How often a file that is being written is tried, before the last good reading is the answer. */
const READ_TRIES = 60;
const READ_PAUSE_MS = 25;
/** A file that is untouched for so long is not being written: opkg writes it in milliseconds. */
const AT_REST_MS = 1000;

export function createDatabaseReader(options: {
  statusFiles: () => Promise<string[]>;
  isLocked: () => Promise<boolean>;
  /** Whether the package's control file lies beside the status file. */
  hasControl: (statusFile: string, name: string) => Promise<boolean>;
}) {
  const readings = new Map<string, Reading>();
  const given = new Map<string, string>();
  const inTurn = createSequence();

  const readOne = async (file: string, isDefault: boolean): Promise<Packages> => {
    let tried = ABSENT;
    for (let tries = 0; tries < READ_TRIES; tries += 1) {
      const known = readings.get(file);
      const version = await readVersion(file);
      const isKnown = version.text === known?.version || version.text === given.get(file);
      if (known !== undefined && isKnown) return known.packages;
      tried = version.text;
      const mayBeEmpty = !isDefault || known === undefined || known.packages.size === 0;
      const next = await readOnce(file, { version: version.text, mayBeEmpty });
      const isSafe =
        next !== undefined &&
        (keepsAll(known, next) ||
          Math.abs(Date.now() - version.modifiedAt) > AT_REST_MS ||
          (await isFinished(file, version.text, lostOf(known, next))));
      if (isSafe) {
        readings.set(file, next);
        return next.packages;
      }
      await delay(READ_PAUSE_MS);
    }
    return giveUp(file, tried);
  };

  /**
   * The writer may have let go of the lock since the file was read: only a file that is still the
   * same counts.
   */
  const isFinished = async (file: string, version: string, lost: string[]): Promise<boolean> => {
    for (const name of lost) if (await options.hasControl(file, name)) return false;
    return !(await options.isLocked()) && (await readVersion(file)).text === version;
  };

  /**
   * The file stays damaged: the last good reading goes on until the file changes.
   * @param tried its version when it was read last; it may be whole by now
   */
  const giveUp = async (file: string, tried: string): Promise<Packages> => {
    given.set(file, tried);
    const known = readings.get(file) ?? {
      version: '',
      packages: parseStatus(await readFile(file, 'utf8').catch(() => '')),
    };
    readings.set(file, known);
    return known.packages;
  };

  const readAll = async (): Promise<PackageDatabase> => {
    const files = await Promise.all(
      (await options.statusFiles()).map((file, index) => readOne(file, index === 0)),
    );
    return files.length === 1 && files[0] !== undefined
      ? files[0]
      : new Map(files.reverse().flatMap((file) => [...file]));
  };

  return {
    // One after the other: a caller that comes after a change gets a reading that began after it.
    read: (): Promise<PackageDatabase> => inTurn(readAll),
  };
}

/**
 * An empty file is what truncation leaves, and what opkg writes for a destination without packages;
 * the device's own root has some.
 * @returns undefined if the file is being written, replaced or is damaged
 */
async function readOnce(
  file: string,
  { version, mayBeEmpty }: { version: string; mayBeEmpty: boolean },
): Promise<Reading | undefined> {
  // An absent file holds no more than an empty one: somebody may be putting another in its place.
  const reading = version === ABSENT ? '' : readFile(file, 'utf8').catch(unlessShort(undefined));
  const text = await reading;
  const isGood = text === '' ? mayBeEmpty : text !== undefined && endsWell(text);
  if (text === undefined || !isGood || (await readVersion(file)).text !== version) return undefined;
  return { version, packages: parseStatus(text) };
}

/** Whether the new reading has everything that the last one had. */
function keepsAll(known: Reading | undefined, next: Reading): boolean {
  return known !== undefined && [...known.packages.keys()].every((name) => next.packages.has(name));
}

/** The packages on the device that the new reading lacks. */
function lostOf(known: Reading | undefined, next: Reading): string[] {
  return [...(known?.packages.values() ?? [])]
    .filter(({ name, state }) => state !== 'not-installed' && !next.packages.has(name))
    .map(({ name }) => name);
}

const ABSENT = 'absent';

async function readVersion(file: string): Promise<{ text: string; modifiedAt: number }> {
  const entry = await stat(file, { bigint: true }).catch(ifThere(undefined));
  return { text: versionOf(entry) ?? ABSENT, modifiedAt: Number(entry?.mtimeMs ?? 0) };
}

/** opkg ends each paragraph with an empty line, the last one too. */
export function endsWell(status: string): boolean {
  if (!status.endsWith('\n\n')) return false;
  const lastParagraph = status.trimEnd().split(/\n\n/).at(-1) ?? '';
  return /^Package: \S/m.test(lastParagraph) && /^Status: \S+ \S+ \S/m.test(lastParagraph);
}

export function parseStatus(text: string): Packages {
  const packages: Packages = new Map();
  for (const stanza of parseStanzas(text)) {
    const entry = packageOf(stanza);
    // A version that failed to come has a paragraph of its own, beside the one that is there.
    if (entry === undefined || (packages.has(entry.name) && !isPresent(entry))) continue;
    packages.set(entry.name, entry);
  }
  return packages;
}

function packageOf(stanza: Stanza): InstalledPackage | undefined {
  const name = stanza.get('Package');
  const [, flags = '', state] = stanza.get('Status')?.split(/\s+/) ?? [];
  const recommends = parseDepends(stanza.get('Recommends'));
  if (name === undefined || state === undefined) return undefined;
  return {
    name,
    version: stanza.get('Version') ?? '',
    architecture: stanza.get('Architecture') ?? '',
    state,
    isAuto: stanza.get('Auto-Installed') === 'yes',
    isEssential: stanza.get('Essential') === 'yes',
    ...(flags.split(',').includes('hold') ? { isHeld: true } : {}),
    depends: parseDepends(stanza.get('Depends')),
    ...(recommends.length > 0 && { recommends }),
    provides: parseNames(stanza.get('Provides')),
    installedAt: Number(stanza.get('Installed-Time') ?? 0) || 0,
  };
}

/**
 * What the image brought: the status file below `/rom`, where OpenWrt mounts the image. Without
 * one, such as on an ext4 image: what was installed in the same second as libc.
 */
export async function imagePackages({ onDevice }: Paths, database: PackageDatabase) {
  const file = onDevice('/rom/usr/lib/opkg/status');
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text !== undefined) return new Set(parseStatus(text).keys());
  const { installedAt = 0 } = database.get('libc') ?? {};
  const brought = [...database.values()].filter(
    (entry) => entry.name === 'libc' || (installedAt > 0 && entry.installedAt === installedAt),
  );
  return new Set(brought.map(({ name }) => name));
}

/** A status file that is not there is empty; one that cannot be read must not pass for that. */
export async function readStatus(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(ifThere(''));
}

/** The package that a paragraph of the status file is about; empty if it names none. */
export function packageIn(paragraph: string): string {
  return parseStanza(paragraph).get('Package') ?? '';
}

/**
 * Changes paragraphs of the status file, while nobody else writes it. A file that breaks off does
 * so afterwards, too: that is how its damage is seen.
 * @throws an Error of Node if the file is there and cannot be read
 */
export async function editStatus(statusFile: string, edit: (paragraph: string) => string) {
  const text = await readStatus(statusFile);
  const edited = text.split('\n\n').map(edit).join('\n\n');
  if (edited !== text) await rewriteFile(statusFile, edited);
}

/**
 * The configuration files of all packages, and the hash of each as it came; none if the status
 * file cannot be read.
 */
export async function readConffiles(statusFile: string) {
  const text = await readFile(statusFile, 'utf8').catch(() => '');
  return [...parseStanzas(text)].flatMap((stanza) => {
    const owner = stanza.get('Package') ?? '';
    const lines = (stanza.get('Conffiles') ?? '').split('\n');
    return lines.flatMap((line) => {
      const [path, hash] = line.split(' ');
      return path && hash ? [{ owner, path, hash }] : [];
    });
  });
}
