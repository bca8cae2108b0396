import {
  chmod,
  chown,
  mkdir,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  rmdir,
  stat,
  utimes,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isDiskFull } from '../../device/disk/disk-full.ts';
import { isInsideFolder } from '../../device/inside-folder.ts';
import { isFolder, isThere as isThereAt } from '../../device/is-there.ts';
import { DepotError, reasonOf, systemCode } from '../../errors.ts';
import type { MoveFolders } from './device.ts';
import { redirectContainers } from './engine/rewrite-paths.ts';
import { replaceFile, syncPath } from '../../device/durable-file.ts';
import {
  ASIDE_NAME,
  ASIDE_PART_NAME,
  COPY_NAME,
  DONE_NAME,
  KEPT_OUT,
  LEFT_PREFIX,
  MARKER_NAME,
  MOVE_NAME,
  OWNER_NAME,
  RAN_NAME,
} from './target-layout.ts';
import { runTraceOf } from './engine/run-trace.ts';

/**
 * How much older than the copy its marker is, so that no change falls between two ticks of the
 * clock.
 */
const MARKER_AGE_S = 2;

/**
 * A move's own folder lies in the target, on the target's disk: if the disk is not mounted there
 * is no such folder, and nothing can be copied to the disk below. Invariants:
 *  - only what is below that folder is ever deleted; what the target held is moved aside whole, and
 *    back;
 *  - each rename can be the last one before a crash: whether ASIDE_NAME is there tells how far it
 *    went, and doing it again goes on from there.
 */
export function createMoveFolders(): MoveFolders {
  const isThere = async (target: string, job: string): Promise<boolean> =>
    (await readFile(join(target, MOVE_NAME, OWNER_NAME), 'latin1').catch(() => '')) === job;
  const need = async (target: string, job: string): Promise<void> => {
    if (!(await isThere(target, job))) {
      throw new DepotError(
        'unavailable',
        `cannot go on with ${target}: what was copied there is gone; is its disk still mounted?`,
      );
    }
  };
  return {
    folderIn: (target) => join(target, MOVE_NAME),
    inspect: async (target) => {
      const folder = join(target, MOVE_NAME);
      const [aside, part, here] = await Promise.all(
        [join(folder, ASIDE_NAME), join(folder, ASIDE_PART_NAME), target].map(entriesOf),
      );
      // What an earlier move had put in place stands there for what it had moved aside.
      const held = aside ?? [...(part ?? []), ...(here ?? [])];
      return { isEmpty: held.length === 0, hasMove: (await entriesOf(folder)) !== undefined };
    },
    prepare: (target, job) => inWords(target, () => prepare(target, job)),
    isThere,
    need,
    redirect: (target, sources) =>
      inWords(target, async () => {
        const real = await realpath(target);
        for (const root of [join(target, MOVE_NAME, COPY_NAME), target]) {
          await redirectContainers(root, { from: sources, to: real });
        }
      }),
    place: (target, source) => inWords(target, () => place(target, source)),
    noteSwitch: (target) =>
      inWords(target, async () =>
        replaceFile(join(target, MOVE_NAME, RAN_NAME), await runTraceOf(target)),
      ),
    noteRun: (target, job) =>
      inWords(target, async () => {
        await need(target, job);
        await replaceFile(join(target, MOVE_NAME, RAN_NAME), ANSWERED);
      }),
    restore: (target) => inWords(target, () => restore(target)),
    isRestored: async (target) => {
      const aside = [ASIDE_NAME, ASIDE_PART_NAME].map((name) => join(target, MOVE_NAME, name));
      return (await Promise.all(aside.map(entriesOf))).every((entries) => entries === undefined);
    },
    tidy: async (target, created) => {
      for (
        let folder = target;
        folder === created || isInsideFolder(folder, created);
        folder = dirname(folder)
      ) {
        // Somebody else uses it by now, or it is gone.
        if (
          await rmdir(folder).then(
            () => false,
            () => true,
          )
        ) {
          return;
        }
      }
    },
    finish: async (target) => {
      const done = join(target, DONE_NAME);
      if (await isFolder(join(target, MOVE_NAME))) {
        // One that is left from long ago must not be in the way.
        await rm(done, { recursive: true, force: true });
        await rename(join(target, MOVE_NAME), done);
        await syncPath(target);
      }
      return done;
    },
  };
}

/** What a full, a failing or an absent disk says, as everything else is said. */
async function inWords<Result>(target: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DepotError || systemCode(error) === undefined) throw error;
    if (isDiskFull(error)) {
      throw new DepotError('no_space', `cannot go on with ${target}: its file system is full`, {
        cause: error,
      });
    }
    throw new DepotError(
      'unavailable',
      `cannot go on with ${target}: ${reasonOf(error)}; is its disk still mounted?`,
      { cause: error },
    );
  }
}

async function prepare(
  target: string,
  job: string,
): Promise<{ created: string | undefined; left: string | undefined }> {
  const created = await makeTarget(target);
  const folder = join(target, MOVE_NAME);
  await makeFolder(folder);
  const left = await restore(target);
  await makeFolder(folder);
  await makeFolder(join(folder, COPY_NAME));
  await makeMarker(join(folder, MARKER_NAME));
  await replaceFile(join(folder, OWNER_NAME), job);
  return { created, left };
}

/** @returns the uppermost folder that had to be made */
async function makeTarget(target: string): Promise<string | undefined> {
  try {
    return await mkdir(target, { recursive: true, mode: 0o755 });
  } catch {
    // On a full disk Node says of a recursive one that the folder is not there; a plain one has the
    // reason.
    await mkdir(target, { mode: 0o755 });
    return target;
  }
}

/** Where the folder above it has gone, so has the disk: nothing is made on the one below. */
async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
    if (systemCode(error) !== 'EEXIST') throw error;
  });
}

/**
 * The first one stays for as long as the copy does: whatever has changed since it was begun is
 * newer.
 */
async function makeMarker(file: string): Promise<void> {
  if (await isThereAt(file)) return;
  await replaceFile(file, '');
  const time = Math.floor(Date.now() / 1000) - MARKER_AGE_S + 0.5;
  await utimes(file, time, time);
}

async function place(target: string, source: string): Promise<void> {
  const folder = join(target, MOVE_NAME);
  const [copy, aside, part] = [COPY_NAME, ASIDE_NAME, ASIDE_PART_NAME].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  if (!(await isFolder(aside))) {
    await makeFolder(part);
    await likeFolder(part, target);
    await moveEntries(target, part);
    await rename(part, aside);
    await syncPath(folder);
  }
  await moveEntries(copy, target);
  await likeFolder(target, source);
  await syncPath(target);
}

/** @returns where the copy is left, if an engine has worked with it */
async function restore(target: string): Promise<string | undefined> {
  const folder = join(target, MOVE_NAME);
  const [copy, aside, part] = [COPY_NAME, ASIDE_NAME, ASIDE_PART_NAME].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  if (await isFolder(aside)) {
    await makeFolder(copy);
    await moveEntries(target, copy);
    await rename(aside, part);
    await syncPath(folder);
  }
  if (await isFolder(part)) {
    await moveEntries(part, target);
    await likeFolder(target, part);
    await rmdir(part);
    await syncPath(folder);
  }
  if (!(await hasRun(join(folder, RAN_NAME), copy))) {
    // The next try changes the copy, and that is nobody's run.
    await rm(join(folder, RAN_NAME), { force: true });
    return undefined;
  }
  const left = join(target, `${LEFT_PREFIX}${Date.now()}`);
  await rename(folder, left);
  await syncPath(target);
  return left;
}

const ANSWERED = '';

/**
 * An engine that answered has run. One that did not may have started containers all the same: that
 * is the first thing it does.
 */
async function hasRun(file: string, copy: string): Promise<boolean> {
  const noted = await readFile(file, 'latin1').catch(() => undefined);
  return noted !== undefined && (noted === ANSWERED || noted !== (await runTraceOf(copy)));
}

/** Gives a folder the owner and the mode of another one. */
async function likeFolder(folder: string, other: string): Promise<void> {
  const { mode, uid, gid } = await stat(other);
  await chown(folder, uid, gid);
  await chmod(folder, mode & 0o7777);
}

/**
 * Moves all that is in a folder into another one of the same file system; both are on the medium
 * when it resolves.
 */
async function moveEntries(from: string, to: string): Promise<void> {
  for (const name of (await entriesOf(from)) ?? []) await rename(join(from, name), join(to, name));
  await syncPath(to);
  await syncPath(from);
}

/** Without what is no part of a data root; undefined if there is no folder. */
async function entriesOf(folder: string): Promise<string[] | undefined> {
  try {
    return (await readdir(folder)).filter(
      (name) => !KEPT_OUT.includes(name) && !name.startsWith(LEFT_PREFIX),
    );
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return undefined;
    throw error;
  }
}
