import { lstat, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { syncPath } from '../../device/durable-file.ts';
import { createSequence } from '../../device/concurrency-limit.ts';
import { createDiskAsking, createPatience } from '../../device/disk/patience.ts';
import { freeBytesOf } from '../../device/disk/space.ts';
import type { Paths } from '../../device/paths.ts';
import type { Notes } from '../../device/ports.ts';
import { followTrusted, isOfRoot, openTrustedFolder } from '../../device/private-folder.ts';
import { DepotError, reasonOf } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { newId, unixNow } from '../../jobs/job.ts';
import type { Manifest } from './manifest.ts';
import { readSetHead } from './read-set.ts';
import { measure } from './write-set.ts';

/** A set that is there. */
export interface StoredSet {
  manifest: Manifest;
  file: string;
  bytes: number;
  /** When the set was put there, Unix seconds with fractions: two may come in one. */
  storedAt: number;
}

export type Sets = ReturnType<typeof createSets>;

/** Left free on a disk beside a set, so that package managers can write their records. */
export const RESERVE_BYTES = 2 * 1024 ** 2;

const NOTE = 'backup-folders';
const noted = v.fallback(v.array(v.string()), []);
const MOST_FOLDERS = 8;
const NAME = /^(?:depotd-backup-)?([0-9a-f]{32})(\.given)?\.tar\.gz$/;

/** Limits of the sets that were made by themselves. */
export const LIMITS = { days: 31, sets: 10, bytes: 2 * 1024 ** 2 } as const;
/** What was stored before 2020 was stored while the clock had no time yet: nobody knows its age. */
const EARLIEST_S = 1_577_836_800;
const AUTOMATIC: readonly Manifest['reason'][] = ['removal', 'upgrade', 'self_upgrade'];

/**
 * The sets of a device: in a folder of the daemon's, and in folders that the owner had them written
 * to. Each says of itself what it is; nothing else is kept of it.
 */
export function createSets(paths: Paths, notes: Notes, log: Log) {
  const own = join(paths.stateDir, 'backups');
  const folders = async (): Promise<string[]> => v.parse(noted, await notes.read(NOTE));
  const setsElsewhere = patientReader(log);
  const answers = createDiskAsking();
  const all = async (): Promise<StoredSet[]> => {
    const found = await setsIn(own, log);
    for (const folder of await folders()) {
      found.push(...((await setsElsewhere(paths.onDevice(folder))) ?? []));
    }
    return found.sort((a, b) => b.manifest.made_at - a.manifest.made_at || b.storedAt - a.storedAt);
  };
  const find = async (id: string): Promise<StoredSet> => {
    const found = (await all()).find(({ manifest }) => manifest.id === id);
    if (found !== undefined) return found;
    throw new DepotError('not_found', `cannot find the backup ${id}`);
  };
  const remove = async (id: string): Promise<void> => rm((await find(id)).file, { force: true });
  return {
    /** Newest first. */
    all,
    /** @throws DepotError not_found */
    find,
    remove,
    /** The file of a new one. @throws DepotError unavailable, no_space */
    place: async (id: string, folder?: string): Promise<string> => {
      if (folder === undefined) return join(await openTrustedFolder(own), `${id}.tar.gz`);
      const target = paths.onDevice(folder);
      if (!(await answers(target))) {
        throw new DepotError('unavailable', `cannot look at ${folder}: its disk does not answer`);
      }
      const entry = await lstat(target).catch(() => undefined);
      if (entry?.isDirectory() !== true) {
        const message = `cannot write the backup to ${folder}: it is no folder`;
        throw new DepotError('bad_request', message);
      }
      const trusted = await openTrustedFolder(target);
      const others = (await folders()).filter((each) => each !== folder);
      await notes.write(NOTE, [...others, folder].slice(-MOST_FOLDERS));
      return join(trusted, `depotd-backup-${id}.tar.gz`);
    },
    /** The file that one is received to. */
    receive: async () => join(await openTrustedFolder(own), `${newId()}.received`),
    /**
     * Takes one that was received and checked.
     * @returns whether it was not there yet
     * @throws DepotError conflict
     */
    adopt: async (received: string, id: string): Promise<boolean> => {
      const target = join(await openTrustedFolder(own), `${id}.given.tar.gz`);
      const there = (await all()).find(({ manifest }) => manifest.id === id);
      if (there !== undefined) {
        const [known, sent] = [await measure(there.file), await measure(received)];
        await rm(received, { force: true });
        if (known?.sha256 === sent?.sha256) return false;
        throw new DepotError('conflict', `cannot take the backup: another one has the id ${id}`);
      }
      await rename(received, target);
      await syncPath(own);
      return true;
    },
    /** Removes what a daemon that was killed left. */
    sweep: async (isActive: (jobId: string) => boolean): Promise<void> => {
      const names = await readdir(own).catch(() => []);
      for (const name of names) {
        const [, job] = /^\.(?:restore-)?([0-9a-f]{32})$/.exec(name) ?? [];
        const isLeft = job === undefined ? /\.(?:received|new)$/.test(name) : !isActive(job);
        if (isLeft) await rm(join(own, name), { recursive: true, force: true });
      }
    },
    /**
     * Lets go those that were made by themselves and are too old, too many or too large.
     * @param newest the id of the one that has just been made
     */
    prune: async (newest: string): Promise<void> => {
      // By the clock the newest set may be the oldest.
      const rankOf = ({ manifest, storedAt }: StoredSet): number =>
        manifest.id === newest ? Infinity : storedAt;
      const sets = (await setsIn(own, log))
        .filter(({ manifest }) => AUTOMATIC.includes(manifest.reason))
        .sort((a, b) => rankOf(b) - rankOf(a));
      let bytes = 0;
      for (const [index, set] of sets.entries()) {
        bytes += set.bytes;
        const hasAge = set.storedAt >= EARLIEST_S;
        const isOld = hasAge && unixNow() - set.storedAt > LIMITS.days * 86_400;
        const isTooMuch = index >= LIMITS.sets || bytes > LIMITS.bytes;
        if (isOld || isTooMuch) await rm(set.file, { force: true });
      }
    },
    freeBytes: async (): Promise<number> => freeBytesOf(await openTrustedFolder(own)),
  };
}

/** Of folders on other disks, each read once at a time: two would keep all the calls there are. */
function patientReader(log: Log): (folder: string) => Promise<StoredSet[] | undefined> {
  const sequences = new Map<string, ReturnType<typeof createSequence>>();
  const read = createPatience(
    (folder) => setsIn(folder, log),
    (file) => log.warn({ file, reason: 'its disk does not answer' }, 'backup unreadable'),
  );
  return (folder) => {
    const inTurn = sequences.get(folder) ?? createSequence();
    sequences.set(folder, inTurn);
    return inTurn(() => read(folder));
  };
}

/** Below /tmp a folder, and a file in it, may be another user's: what is theirs is no set. */
async function setsIn(folder: string, log: Log): Promise<StoredSet[]> {
  const sets: StoredSet[] = [];
  const names = (await readdir(folder).catch(() => [])).filter((name) => NAME.test(name));
  try {
    if (names.length > 0) await followTrusted(folder, undefined);
  } catch (error) {
    log.warn({ file: folder, reason: reasonOf(error) }, 'backup unreadable');
    return [];
  }
  for (const name of names) {
    const [, id, given] = NAME.exec(name) ?? [];
    const file = join(folder, name);
    const entry = await lstat(file).catch(() => undefined);
    if (entry?.isFile() !== true || !isOfRoot(entry)) continue;
    try {
      const manifest = await readSetHead(file);
      if (manifest.id !== id) continue;
      const reason = given === undefined ? manifest.reason : 'given';
      const storedAt = entry.mtimeMs / 1000;
      sets.push({ manifest: { ...manifest, reason }, file, bytes: entry.size, storedAt });
    } catch (error) {
      log.warn({ file, reason: reasonOf(error) }, 'backup unreadable');
    }
  }
  return sets;
}
