import { createHash } from 'node:crypto';
import { closeSync, fstatSync, lstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { lstat, readlink } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { piecesOf, READ } from '../../device/owner-file.ts';
import { orElse } from '../../errors.ts';
import type { FileRecord } from '../../package-management/listing.ts';
import type { Differing } from './documentation.ts';

type Difference = Differing['what'];

/** Files looked at before others get the processor. */
const AT_ONCE = 16;
/** Scripts of the first start remove themselves. */
const FIRST_START = '/etc/uci-defaults/';

interface Entry {
  record: FileRecord;
  stat: Stats | undefined;
}

export interface FileCheckOptions {
  onDevice: (path: string) => string;
  /** Ends the look in the middle. */
  signal: AbortSignal;
}

/** Holds files to what is on record of them. Nothing is written. */
export async function checkFiles(
  records: readonly FileRecord[],
  { onDevice, signal }: FileCheckOptions,
): Promise<Differing[]> {
  const entries = await inBatches(records, signal, (record): Entry => {
    return { record, stat: orElse(() => lstatSync(onDevice(record.path)), undefined) };
  });
  const timed = builtTogether(entries);
  const found = await inBatches(entries, signal, async (entry): Promise<Differing | undefined> => {
    const what = await differenceOf(entry, onDevice, timed);
    const { path, owner } = entry.record;
    return what && { path, package: owner, what };
  });
  return found.filter((entry) => entry !== undefined);
}

/** Packages whose files have the time of the build: those whose times can be compared. */
function builtTogether(entries: readonly Entry[]): Set<string> {
  const together = entries.filter(
    ({ record: { times }, stat }) => times !== undefined && times.built === secondsOf(stat),
  );
  return new Set(together.map(({ record }) => record.owner));
}

function secondsOf(stat: Stats | undefined): number {
  return stat === undefined ? -1 : Math.floor(stat.mtimeMs / 1000);
}

async function differenceOf(
  { record, stat }: Entry,
  onDevice: FileCheckOptions['onDevice'],
  timed: ReadonlySet<string>,
): Promise<Difference | undefined> {
  const { path, hash } = record;
  if (stat === undefined) return path.startsWith(FIRST_START) ? undefined : 'missing';
  if (!stat.isFile() && !stat.isSymbolicLink()) return 'kind';
  const rights = stat.isFile() ? wrongRights(record, stat) : undefined;
  if (rights !== undefined) return rights;
  if (hash !== undefined) {
    const digits = await hashOf(onDevice(path), stat, hash.algorithm);
    return digits.startsWith(hash.digits) ? undefined : 'content';
  }
  return differenceWithoutHash(record, stat, { onDevice, timed });
}

async function differenceWithoutHash(
  record: FileRecord,
  stat: Stats,
  { onDevice, timed }: Pick<FileCheckOptions, 'onDevice'> & { timed: ReadonlySet<string> },
): Promise<Difference | undefined> {
  const { path } = record;
  const image = onDevice(`/rom${path}`);
  const original = await lstat(image).catch(() => undefined);
  if (original?.isFile() === true || original?.isSymbolicLink() === true) {
    return differenceFrom({ image, original }, onDevice(path), stat);
  }
  return hasOwnTime(record, stat, timed) ? undefined : 'content';
}

function wrongRights({ isConfig, mode, uid }: FileRecord, stat: Stats): Difference | undefined {
  if (isConfig) return undefined;
  if (uid !== undefined && process.getuid?.() === 0 && stat.uid !== uid) return 'owner';
  return mode === undefined || (stat.mode & 0o7777) === mode ? undefined : 'mode';
}

/** Most seconds between a file's time and that on record. */
const CLOCK_S = 2;

function hasOwnTime({ owner, times }: FileRecord, stat: Stats, timed: ReadonlySet<string>) {
  if (times === undefined) return true;
  // A link is made anew: it has the time of the installation.
  if (timed.has(owner) && stat.isFile()) return secondsOf(stat) === times.built;
  return times.installed === 0 || secondsOf(stat) <= times.installed + CLOCK_S;
}

/** What the firmware's image brought lies there as it came. */
async function differenceFrom(
  { image, original }: { image: string; original: Stats },
  path: string,
  stat: Stats,
): Promise<Difference | undefined> {
  if (original.isFile() !== stat.isFile()) return 'kind';
  if (stat.isFile() && ((original.mode ^ stat.mode) & 0o7777) !== 0) return 'mode';
  const isSame =
    original.size === stat.size &&
    (await hashOf(image, original, 'sha256')) === (await hashOf(path, stat, 'sha256'));
  return isSame ? undefined : 'content';
}

/** Read in one go: ten thousand files by way of Node's threads take three times as long. */
const MOST_AT_ONCE_BYTES = 64 * 1024;

async function hashOf(path: string, stat: Stats, algorithm: string): Promise<string> {
  const hash = createHash(algorithm);
  try {
    if (stat.isSymbolicLink()) hash.update(await readlink(path));
    else if (stat.size <= MOST_AT_ONCE_BYTES) hash.update(readAtOnce(path));
    else for await (const piece of piecesOf(path)) hash.update(piece);
  } catch {
    return '';
  }
  return hash.digest('hex');
}

/** It may be another one since it was looked at: nobody is answered while this waits for a fifo. */
function readAtOnce(path: string): Buffer {
  const descriptor = openSync(path, READ);
  try {
    const entry = fstatSync(descriptor);
    if (entry.isFile() && entry.size <= MOST_AT_ONCE_BYTES) return readFileSync(descriptor);
    throw new Error('it was replaced meanwhile');
  } finally {
    closeSync(descriptor);
  }
}

/** A few at a time, with room for others between them. */
async function inBatches<Item, Result>(
  items: readonly Item[],
  signal: AbortSignal,
  work: (item: Item) => Result | Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let from = 0; from < items.length; from += AT_ONCE) {
    signal.throwIfAborted();
    results.push(...(await Promise.all(items.slice(from, from + AT_ONCE).map(work))));
    await setImmediate();
  }
  return results;
}
