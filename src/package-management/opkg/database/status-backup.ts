import { readFile, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createSequence } from '../../../device/concurrency-limit.ts';
import type { PackageDatabase } from '../../database.ts';
import { createAlternatingFiles } from './alternating-files.ts';
import { replaceFile, syncPath } from '../../../device/durable-file.ts';
import { isThere } from '../../../device/is-there.ts';
import { endsWell, parseStatus, readStatus } from './status-file.ts';

/** The self-upgrade's watcher knows them, too. */
export const COPY_NAMES = ['opkg-status.before.gz', 'opkg-status.before.2.gz'] as const;
/** Name of the copy as depotd wrote it before it compressed that. */
export const PLAIN_COPY_NAME = 'opkg-status.before';
/** Largest status file, that of a device with 100,000 packages. */
const MAX_STATUS_BYTES = 64 * 1024 ** 2;

export type StatusCopy = ReturnType<typeof createStatusCopy>;

/**
 * The copy of opkg's status file, taken at the start, before each package job and after changes by
 * others, on flash: opkg truncates the file in place, and a power cut or a full disk in that moment
 * would leave the device with no record of its packages. It is compressed, and the same one is not
 * written again, to spare the flash. A plain copy is an older depotd's, which came back after a
 * newer one: it counts until the next save, which removes it first.
 */
export function createStatusCopy(statusFile: string, stateDir: string) {
  const [first, second] = COPY_NAMES;
  const files = [join(stateDir, first), join(stateDir, second)] as const;
  const copies = createAlternatingFiles(files, MAX_STATUS_BYTES);
  const plainFile = join(stateDir, PLAIN_COPY_NAME);
  const readCopy = (): Promise<string | undefined> =>
    readFile(plainFile, 'utf8').catch(() => copies.read());
  /** A job asks twice for what was before it. */
  let parsed: { text: string; packages: PackageDatabase } | undefined;
  const inTurn = createSequence();
  const save = async (seen?: PackageDatabase): Promise<void> => {
    const text = await readStatus(statusFile);
    const before = await readCopy();
    if (text === before) return;
    // A damaged file replaces no good copy, nor does an empty one a copy that has packages.
    if (text === '' ? (before ?? '') !== '' : !endsWell(text)) return;
    const packages = seen && parseStatus(text);
    if (packages && ![...seen.keys()].every((name) => packages.has(name))) return;
    await removeFile(plainFile);
    await copies.write(text);
  };
  return {
    /**
     * What a job saves is not replaced by what was read ahead of it, so that it is done in turn.
     * @param seen what must be on record, else nothing is saved
     */
    save: (seen?: PackageDatabase): Promise<void> => inTurn(() => save(seen)),
    /** The database as it was when saved; undefined if nothing was saved. */
    read: async (): Promise<PackageDatabase | undefined> => {
      const text = await readCopy();
      if (text === undefined) return undefined;
      if (parsed?.text !== text) parsed = { text, packages: parseStatus(text) };
      return parsed.packages;
    },
    /** The status file of before, as opkg wrote it. */
    text: readCopy,
    /** The text of the status file in use; undefined if it is damaged or cannot be read. */
    intact: async (): Promise<string | undefined> => {
      const text = await readStatus(statusFile);
      const isWhole = text === '' ? ((await readCopy()) ?? '') === '' : endsWell(text);
      return isWhole ? text : undefined;
    },
    restore: async (): Promise<void> => {
      const text = await readCopy();
      if (text === undefined) return;
      const { mode } = await stat(statusFile).catch(() => ({ mode: 0o644 }));
      await replaceFile(statusFile, text, mode & 0o777);
    },
  };
}

/** Gone for good, also after a power cut. */
async function removeFile(file: string): Promise<void> {
  if (!(await isThere(file))) return;
  await rm(file);
  await syncPath(dirname(file));
}
