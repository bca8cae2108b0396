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
import { isAtOrIn } from '../../device/inside-folder.ts';
import { isFolder, isThere as isThereAt } from '../../device/is-there.ts';
import { makeFolder } from '../../device/private-folder.ts';
import { DepotError, reasonOf, systemCode } from '../../errors.ts';
import { redirectContainers } from './engine/rewrite-paths.ts';
import { replaceFile, syncPath } from '../../device/durable-file.ts';
import { runTraceOf } from './engine/run-trace.ts';
import { KEPT_OUT, LEFT_PREFIX, moveFolder } from './target-layout.ts';

/**
 * The folder of a move in its target: all that is copied is below it until it is put in place. It
 * lies on the target's disk: if the disk is not mounted there is no such folder, and nothing can be
 * copied to the disk below. Invariants:
 *  - only what is below that folder is ever deleted; what the target held is moved aside whole, and
 *    back;
 *  - each rename can be the last one before a crash: whether `aside` is there tells how far it
 *    went, and doing it again goes on from there.
 */

/** What a target holds, without what an earlier move has left there. */
export interface TargetContent {
  isEmpty: boolean;
  /** A move's own folder is there. */
  hasMove: boolean;
}

export async function inspect(target: string): Promise<TargetContent> {
  const { folder, aside, part } = moveFolder(target);
  const [old, halfOld, here] = await Promise.all([aside, part, target].map(entriesOf));
  // An earlier move has its copy in place: what the target held is what it had moved aside.
  const held = old ?? [...(halfOld ?? []), ...(here ?? [])];
  return { isEmpty: held.length === 0, hasMove: (await entriesOf(folder)) !== undefined };
}

/** Whether the folder is there, and this job's: so is its disk. */
export async function isThere(target: string, job: string): Promise<boolean> {
  return (await readFile(moveFolder(target).owner, 'latin1').catch(() => '')) === job;
}

/** @throws DepotError unavailable if the disk is not mounted any more, or another one is */
export async function need(target: string, job: string): Promise<void> {
  if (await isThere(target, job)) return;
  throw new DepotError(
    'unavailable',
    `cannot go on with ${target}: what was copied there is gone; is its disk still mounted?`,
  );
}

/** How much older than the copy its marker is: no change falls between two ticks of the clock. */
const MARKER_AGE_S = 2;

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
    const message = `cannot go on with ${target}: ${reasonOf(error)}; is its disk still mounted?`;
    throw new DepotError('unavailable', message, { cause: error });
  }
}

/**
 * The target is made, too; what an earlier move has left is taken over, after what that had put in
 * place is taken back. @returns the uppermost folder that was made, and what `restore` returns
 */
export function prepare(
  target: string,
  job: string,
): Promise<{ created: string | undefined; left: string | undefined }> {
  return inWords(target, async () => {
    const created = await makeTarget(target);
    const { folder, copy, marker, owner } = moveFolder(target);
    await makeFolder(folder);
    const left = await restore(target);
    await makeFolder(folder);
    await makeFolder(copy);
    await makeMarker(marker);
    await replaceFile(owner, job);
    return { created, left };
  });
}

async function makeTarget(target: string): Promise<string | undefined> {
  try {
    return await mkdir(target, { recursive: true, mode: 0o755 });
  } catch {
    // On a full disk Node says of a recursive one that the folder is not there; this one says why.
    await mkdir(target, { mode: 0o755 });
    return target;
  }
}

/** The first marker stays as long as the copy: what has changed since that began is newer. */
async function makeMarker(file: string): Promise<void> {
  if (await isThereAt(file)) return;
  await replaceFile(file, '');
  const time = Math.floor(Date.now() / 1000) - MARKER_AGE_S + 0.5;
  await utimes(file, time, time);
}

/** The engine writes down whole paths of volumes and logs: they must lead to the target. */
export function redirect(target: string, sources: readonly string[]): Promise<void> {
  return inWords(target, async () => {
    const real = await realpath(target);
    for (const root of [moveFolder(target).copy, target]) {
      await redirectContainers(root, { from: sources, to: real });
    }
  });
}

/**
 * What the target held goes aside, the copy in its place, with the source's owner and mode; safe to
 * do again.
 */
export function place(target: string, source: string): Promise<void> {
  return inWords(target, async () => {
    const { folder, copy, aside, part } = moveFolder(target);
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
  });
}

/** Notes how the copy in its place looks before an engine can work with it. */
export function noteSwitch(target: string): Promise<void> {
  return inWords(target, async () => replaceFile(moveFolder(target).ran, await runTraceOf(target)));
}

/** From now on there may be in the copy what is nowhere else. @throws DepotError unavailable */
export function noteRun(target: string, job: string): Promise<void> {
  return inWords(target, async () => {
    await need(target, job);
    await replaceFile(moveFolder(target).ran, ANSWERED);
  });
}

/**
 * Undoes `place`, wherever it was broken off; safe to do again.
 * @returns where a copy that an engine has worked with is left; no later move touches it
 */
export function restore(target: string): Promise<string | undefined> {
  return inWords(target, async () => {
    const { folder, copy, aside, part, ran } = moveFolder(target);
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
    if (!(await hasRun(ran, copy))) {
      // Its trace goes, too: the next try changes the copy, and no engine has run with that.
      await rm(ran, { force: true });
      return undefined;
    }
    const left = join(target, `${LEFT_PREFIX}${Date.now()}`);
    await rename(folder, left);
    await syncPath(target);
    return left;
  });
}

/** Whether nothing of what the target held is still aside. */
export async function isRestored(target: string): Promise<boolean> {
  const { aside, part } = moveFolder(target);
  const held = await Promise.all([aside, part].map(entriesOf));
  return held.every((entries) => entries === undefined);
}

/** Removes the folders that `prepare` made, as far as they are empty. */
export async function tidy(target: string, created: string): Promise<void> {
  try {
    for (let folder = target; isAtOrIn(folder, created); folder = dirname(folder)) {
      await rmdir(folder);
    }
  } catch {
    // Somebody else uses the target folder by now, or it is gone.
  }
}

/** The copy stays; what was set aside is only to be removed. @returns the folder to remove */
export async function finish(target: string): Promise<string> {
  const { folder, done } = moveFolder(target);
  if (await isFolder(folder)) {
    // A folder that an earlier move left to be removed must not be in the way.
    await rm(done, { recursive: true, force: true });
    await rename(folder, done);
    await syncPath(target);
  }
  return done;
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

/** Within one file system; both folders are on the medium when it resolves. */
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
