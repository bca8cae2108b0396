import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, open, readdir, rename, rmdir, unlink, type FileHandle } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import * as v from 'valibot';
import { refusalIn, type EngineAnswer } from '../../device/engine/engine-api.ts';
import { DepotError, reasonOf, systemCode } from '../../errors.ts';
import { isPlainFolder } from './data-folders.ts';
import type { EngineView } from './engine-view.ts';

/** What of one container goes, as it is put on record. */
export const recordedContainer = v.object({
  id: v.string(),
  name: v.string(),
  imageId: v.string(),
  image: v.string(),
  isPinned: v.boolean(),
  volumes: v.array(v.object({ name: v.string(), path: v.string() })),
  folders: v.array(v.string()),
});
export type RecordedContainer = v.InferOutput<typeof recordedContainer>;

interface Removal {
  engine: EngineView;
  containers: readonly RecordedContainer[];
  /** Whether images and data go, too. */
  isPurge: boolean;
  note: (line: string) => Promise<void>;
}

/** How long a container gets to end by itself. */
const GRACE_S = 10;
/** Longest wait for the engine: a disk may be slow to forget what was on it. */
const ANSWER_MS = 120_000;

/**
 * Removes containers by their ids, then, if they are to go, what was recorded of them. What has
 * gone already is no failure: a daemon that was killed does it again.
 * @throws DepotError command_failed if a container is still there; what else stays is said
 */
export async function removeRecorded(removal: Removal): Promise<void> {
  const { engine, containers, isPurge, note } = removal;
  const ask = (method: 'POST' | 'DELETE', path: string): Promise<EngineAnswer> =>
    engine.ask({ method, path, timeoutMs: ANSWER_MS });
  const stay: string[] = [];
  for (const { id, name } of containers) {
    await ask('POST', `/containers/${id}/stop?t=${GRACE_S}`);
    const failure = await removalFailure(() => ask('DELETE', `/containers/${id}?force=1`));
    if (failure === undefined) await note(`the container ${name} is removed`);
    else stay.push(`cannot remove the container ${name}: ${failure}`);
  }
  if (stay.length > 0) throw new DepotError('command_failed', stay.join('; '));
  if (!isPurge) return sayWhatStays(containers, note);
  const report = async (what: string, failure: string | undefined): Promise<void> =>
    note(failure === undefined ? `${what} is removed` : `${what} stays: ${failure}`);
  for (const folder of new Set(containers.flatMap(({ folders }) => folders))) {
    await report(`the folder ${folder}`, await folderFailure(folder));
  }
  const volumes = containers.flatMap((one) => one.volumes.map(({ name }) => name));
  for (const volume of new Set(volumes)) {
    const answer = await ask('DELETE', `/volumes/${encodeURIComponent(volume)}`);
    await report(`the volume ${volume}`, failureIn(answer));
  }
  const images = new Map(containers.map(({ imageId, image }) => [imageId, image]));
  for (const [id, image] of images) {
    const answer = await ask('DELETE', `/images/${encodeURIComponent(id)}`);
    await report(`the image ${image}`, failureIn(answer));
  }
}

const AGAIN_MS = 200;
/** A container that goes already: by `--rm`, or as a daemon asked that was killed since. */
const IS_GOING = /removal of container \S+ is already in progress/;

async function removalFailure(remove: () => Promise<EngineAnswer>): Promise<string | undefined> {
  const until = performance.now() + ANSWER_MS;
  for (;;) {
    const failure = failureIn(await remove());
    const isGoing = failure !== undefined && IS_GOING.test(failure);
    if (!isGoing || performance.now() > until) return failure;
    await delay(AGAIN_MS);
  }
}

async function sayWhatStays(containers: readonly RecordedContainer[], note: Removal['note']) {
  const data = containers.flatMap(({ folders, volumes }) => [
    ...folders,
    ...volumes.map(({ path }) => path),
  ]);
  const images = new Set(containers.map(({ image }) => image));
  if (images.size > 0) await note(`images stay: ${[...images].join(', ')}`);
  if (data.length > 0) await note(`data stays: ${[...new Set(data)].join(', ')}`);
}

/** Looked at once more: what was a plain folder may have become something else. */
async function folderFailure(folder: string): Promise<string | undefined> {
  try {
    if ((await lstat(folder).catch(() => undefined)) === undefined) return undefined;
    if (!(await isPlainFolder(folder))) return 'it is not the folder any more that was looked at';
    await removeFolder(folder);
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

/** 404: it has gone; 304: it had stopped. */
const DONE = [200, 204, 304, 404];

function failureIn(answer: EngineAnswer): string | undefined {
  if (answer === 'absent') return 'the container engine does not run';
  if (answer === 'silent') return 'the container engine does not answer';
  return DONE.includes(answer.status) ? undefined : refusalIn(answer);
}

const READ_FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * Removes a folder with all that is in it. Each folder on the way is opened by its name in the one
 * before, and never through a link: whoever exchanges a folder meanwhile (a container that has it
 * mounted) sends nobody anywhere else. Another file system is not entered. What has gone is gone,
 * so that it may be done again.
 * @param path absolute and normalised
 */
export async function removeFolder(path: string): Promise<void> {
  const names = path.split('/').slice(1);
  const last = names.pop() ?? '';
  if (last === '') throw new DepotError('internal', `cannot remove the folder ${path}`);
  let folder = await open('/', READ_FOLDER);
  try {
    for (const name of names) {
      const next = await open(at(folder, Buffer.from(name)), READ_FOLDER);
      await folder.close();
      folder = next;
    }
    const { dev: device } = await folder.stat();
    await removeEntry({ folder, depth: 0 }, Buffer.from(last), { device, moved: 0 });
  } catch (error) {
    ignoreMissing(error);
  } finally {
    await folder.close();
  }
}

/** Each folder on the way is held open: what lies deeper is moved up first. */
const MOST_DEPTH = 100;

interface FolderRemoval {
  device: number;
  /** What is removed, once it is open. */
  top?: FileHandle;
  /** How many folders were moved up into it. */
  moved: number;
}

async function removeEntry(
  { folder: parent, depth }: { folder: FileHandle; depth: number },
  name: Buffer,
  removal: FolderRemoval,
): Promise<void> {
  const path = at(parent, name);
  if (!(await lstat(path)).isDirectory()) return unlink(path);
  if (removal.top !== undefined && depth > MOST_DEPTH) {
    removal.moved += 1;
    return rename(path, at(removal.top, Buffer.from(randomUUID())));
  }
  const folder = await open(path, READ_FOLDER);
  try {
    removal.top ??= folder;
    if ((await folder.stat()).dev !== removal.device) {
      throw new DepotError('unavailable', `cannot remove ${String(name)}: it is another disk`);
    }
    let before: number;
    do {
      before = removal.moved;
      // Names need not be UTF-8.
      const entries = await readdir(`/proc/self/fd/${folder.fd}`, { encoding: 'buffer' });
      for (const entry of entries) {
        await removeEntry({ folder, depth: depth + 1 }, entry, removal).catch(ignoreMissing);
      }
    } while (depth === 0 && removal.moved > before);
  } finally {
    await folder.close();
  }
  return rmdir(path);
}

/** A name in a folder that is open, wherever that has been moved to since (proc(5)). */
function at({ fd }: FileHandle, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`/proc/self/fd/${fd}/`), name]);
}

function ignoreMissing(error: unknown): void {
  if (systemCode(error) !== 'ENOENT') throw error;
}
