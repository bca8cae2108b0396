import { cp, lstat, readFile, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createSequence } from '../../device/concurrency-limit.ts';
import { parseMountTable } from '../../device/disk/mounts.ts';
import { createDiskAsking } from '../../device/disk/patience.ts';
import { readOwnSpace, readSpace } from '../../device/disk/space.ts';
import type { Paths } from '../../device/paths.ts';
import { openPrivateFolder } from '../../device/private-folder.ts';
import { ifThere, reasonOf, succeeds } from '../../errors.ts';
import type { Place } from './undo-record.ts';

/**
 * Folders of what jobs replaced, one a job, root's alone. Invariants:
 *  - all of one place take no more than the limit, nor room that the device needs: the oldest go;
 *  - what a job under way keeps, or one that may have to go back, does not go;
 *  - a disk that does not answer counts as one that is away.
 */
export type UndoStore = ReturnType<typeof createUndoStore>;

interface Need {
  bytes: number;
  isLasting: boolean;
}

export interface UndoStoreOptions {
  paths: Paths;
  limitBytes: () => number;
  mountTable?: () => Promise<string>;
}

const MIB = 1024 ** 2;
/** A quarter of the memory that is free. */
const MEMORY_SHARE = 0.25;
/** How much of the free flash copies may fill; and what stays free on a data disk. */
const FLASH_SHARE = 0.5;
const DISK_FREE_BYTES = 64 * MIB;
/** On flash, of what has to outlive a boot. */
const LEAST_FREE_BYTES = 2 * MIB;
/** An image; and a program's, which may be any user's and name what it likes as its source. */
const NO_DISK = /^(?:squashfs|fuse(?:\..*)?)$/;
const PARTIAL = '.new';
const JOB_ID = /^[0-9a-f]{32}$/;

export function createUndoStore(options: UndoStoreOptions) {
  const { paths, limitBytes } = options;
  const pins: ((jobId: string) => boolean)[] = [];
  const isPinned = (jobId: string): boolean => pins.some((isNeeded) => isNeeded(jobId));
  const { limitOf, makeRoom } = createRooms(limitBytes, isPinned);
  const memory: Place = { kind: 'memory', folder: join(paths.uploadDir, 'undo') };
  const answers = createDiskAsking();
  const locations = async (): Promise<Place[]> => [
    ...(await answering(await dataDisks(options), answers)),
    memory,
    { kind: 'flash', folder: join(paths.stateDir, 'undo') },
  ];
  const find = async (jobId: string): Promise<string | undefined> => {
    for (const { folder } of await locations()) {
      if (await isOurs(join(folder, jobId))) return join(folder, jobId);
    }
    return undefined;
  };
  const open = async (jobId: string, need: Need): Promise<Place | undefined> => {
    const found = await locations();
    // What has to outlive a boot lies in memory only if there is nothing else.
    const rank = ({ kind }: Place): number => Number(kind === 'memory');
    if (need.isLasting) found.sort((one, other) => rank(one) - rank(other));
    const failures: unknown[] = [];
    for (const place of found) {
      if (!(await makeRoom(place, jobId, need))) continue;
      try {
        await (await openPrivateFolder(join(place.folder, jobId))).close();
        return place;
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw new Error(reasonOf(failures[0]), { cause: failures[0] });
    return undefined;
  };
  const drop = async (jobId: string): Promise<void> => {
    for (const { folder } of await locations()) {
      if (!(await isOurs(folder))) continue;
      await rm(join(folder, jobId), { recursive: true, force: true });
      // The folder of all copies goes with its last one; another job's copies keep it there.
      await rmdir(folder).catch(() => undefined);
    }
  };
  const release = async (jobId: string): Promise<void> => {
    const [source, target] = [join(paths.stateDir, 'undo', jobId), join(memory.folder, jobId)];
    const bytes = (await isOurs(source)) ? await bytesBelow(source) : 0;
    if (bytes === 0 || !(await makeRoom(memory, jobId, { bytes, isLasting: false }))) return;
    // Copied under another name first: a copy that was cut off must not pass for a whole one.
    await rm(target + PARTIAL, { recursive: true, force: true });
    await (await openPrivateFolder(target + PARTIAL)).close();
    await cp(source, target + PARTIAL, { recursive: true, preserveTimestamps: true });
    await rename(target + PARTIAL, target);
    await rm(source, { recursive: true, force: true });
  };
  // A place may go with the last that was in it, so nobody may be about to use it.
  const inTurn = createSequence();
  return {
    /**
     * Makes a folder for a job, where there is room for so much.
     * @param isLasting whether it has to outlive a boot
     * @returns undefined if there is room nowhere
     * @throws why no folder can be made where there is
     */
    open: (jobId: string, need: Need): Promise<Place | undefined> =>
      inTurn(() => open(jobId, need)),
    /** Bytes that one job may keep in a place. */
    roomIn: async (place: Place, jobId: string): Promise<number> => {
      const used = sumOf(await keptBeside(place, jobId));
      return (await limitOf(place, true, used)) - used;
    },
    /** The folder of a job; undefined if it is gone. */
    find,
    /** The jobs that have one. */
    list: async (): Promise<Set<string>> => {
      const kept = await Promise.all((await locations()).map(({ folder }) => idsIn(folder)));
      return new Set(kept.flat());
    },
    /** What had to outlive a boot need not any more: it goes from flash into memory, if it can. */
    release: (jobId: string): Promise<void> => inTurn(() => release(jobId)),
    /** What these jobs keep stays, however many keep something after them. */
    pinWhile: (isNeeded: (jobId: string) => boolean): void => void pins.push(isNeeded),
    drop: (jobId: string): Promise<void> => inTurn(() => drop(jobId)),
    /** Removes what is of no job. */
    sweep: async (isKnown: (jobId: string) => boolean): Promise<void> =>
      sweep(await locations(), isKnown),
  };
}

async function sweep(from: readonly Place[], isKnown: (jobId: string) => boolean): Promise<void> {
  for (const { folder } of from) {
    for (const name of await namesIn(folder)) {
      const isLeft = JOB_ID.test(name) ? !isKnown(name) : name.endsWith(PARTIAL);
      if (isLeft) await rm(join(folder, name), { recursive: true, force: true });
    }
  }
}

function createRooms(limitBytes: () => number, isPinned: (jobId: string) => boolean) {
  /** Bytes that all jobs may keep in a place. @param used by them already */
  const limitOf = async (place: Place, isLasting: boolean, used: number): Promise<number> => {
    const most = limitBytes();
    if (place.kind === 'memory') {
      return Math.min(most, MEMORY_SHARE * (process.availableMemory() + used));
    }
    const read = place.kind === 'flash' ? readOwnSpace : readSpace;
    const space = await read(join(place.folder, '..')).catch(() => undefined);
    if (space === undefined) return 0;
    const spare = place.kind === 'disk' ? DISK_FREE_BYTES : FLASH_SHARE * space.totalBytes;
    const kept = isLasting && place.kind === 'flash' ? LEAST_FREE_BYTES : spare;
    return Math.min(most, space.freeBytes + used - kept);
  };
  /** Whether it has, or gets, room for so much. */
  const makeRoom = async (place: Place, jobId: string, need: Need): Promise<boolean> => {
    const kept = await keptBeside(place, jobId);
    let used = sumOf(kept);
    const limit = await limitOf(place, need.isLasting, used);
    const going = kept.filter(({ id }) => !isPinned(id));
    if (used - sumOf(going) + need.bytes > limit) return false;
    for (const { id, bytes } of going) {
      if (used + need.bytes <= limit) break;
      await rm(join(place.folder, id), { recursive: true, force: true });
      used -= bytes;
    }
    return true;
  };
  return { limitOf, makeRoom };
}

/** Disks that are mounted and can be written, but not those that the device runs from. */
async function dataDisks({
  paths,
  mountTable = () => readFile('/proc/self/mountinfo', 'utf8'),
}: UndoStoreOptions): Promise<Place[]> {
  if (!paths.isLive) return [];
  const mounts = parseMountTable(await mountTable().catch(() => ''));
  const own = ['/', '/rom', '/overlay', '/boot', '/boot/efi'];
  const devices = new Set(mounts.filter(({ path }) => own.includes(path)).map((one) => one.device));
  const seen = new Set(devices);
  return mounts.flatMap(({ device, path, source, type, isReadOnly, root }): Place[] => {
    const isDisk = source.startsWith('/dev/') && !NO_DISK.test(type) && root === '/';
    if (!isDisk || isReadOnly || seen.has(device)) return [];
    seen.add(device);
    return [{ kind: 'disk', folder: join(path, '.depotd-undo') }];
  });
}

async function answering(disks: readonly Place[], answers: (folder: string) => Promise<boolean>) {
  const found = await Promise.all(disks.map(({ folder }) => answers(folder)));
  return disks.filter((_, index) => found[index]);
}

async function isOurs(folder: string): Promise<boolean> {
  // A start without one, as after a boot, needs no file handles, which Node would load for it.
  const opening = lstat(folder).then(() => openPrivateFolder(folder, { isMade: false }));
  return succeeds(opening.then((handle) => handle.close()));
}

async function namesIn(folder: string): Promise<string[]> {
  if (!(await isOurs(folder))) return [];
  // The last copies may have gone meanwhile, and the folder with them.
  return readdir(folder).catch(ifThere([]));
}

async function idsIn(folder: string): Promise<string[]> {
  return (await namesIn(folder)).filter((name) => JOB_ID.test(name));
}

/** What other jobs keep in the same place, oldest first. */
async function keptBeside({ folder }: Place, jobId: string) {
  const others = (await idsIn(folder)).filter((id) => id !== jobId);
  const found = await Promise.all(
    others.map(async (id) => {
      const path = join(folder, id);
      const at = (await lstat(path).catch(() => undefined))?.mtimeMs ?? 0;
      return { id, at, bytes: await bytesBelow(path) };
    }),
  );
  return found.sort((one, other) => one.at - other.at);
}

function sumOf(kept: readonly { bytes: number }[]): number {
  return kept.reduce((sum, { bytes }) => sum + bytes, 0);
}

async function bytesBelow(folder: string): Promise<number> {
  let bytes = 0;
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const { parentPath, name } of entries) {
    bytes += (await lstat(join(parentPath, name)).catch(() => undefined))?.size ?? 0;
  }
  return bytes;
}
