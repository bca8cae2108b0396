import { EventEmitter } from 'node:events';
import { appendFile, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isThere } from '../device/is-there.ts';
import { readPart } from '../device/owner-file.ts';
import { openTrustedFolder } from '../device/private-folder.ts';
import { watchPath } from '../device/watch-path.ts';
import { DepotError, ifThere, reasonOf } from '../errors.ts';

export type TaskLogs = Awaited<ReturnType<typeof createTaskLogs>>;

/**
 * Task logs: one append-only file a job, written by the job's commands themselves. Nothing stands
 * between the program and the reader but the file; readers name an offset and may wait for more.
 */
export async function createTaskLogs(folder: string) {
  const wakes = new EventEmitter().setMaxListeners(0);
  const fileOf = (id: string): string => join(folder, `${id}.log`);
  const exitFolder = join(folder, 'exits');
  const makeFolders = async (): Promise<void> => {
    for (const path of [folder, exitFolder]) await openTrustedFolder(path);
  };
  await makeFolders().catch((cause: unknown) => {
    const message = `cannot write task logs to ${folder}: ${reasonOf(cause)}`;
    throw new DepotError('unavailable', message, { cause });
  });
  /** Makes the folders anew where somebody has cleared them away. */
  const keepFolders = async (): Promise<void> => {
    if (!(await isThere(exitFolder))) await makeFolders();
  };
  /**
   * Gets the exit code of a job's n-th command. In a folder of its own, so that a watch on it is
   * not woken by output.
   */
  const exitFileOf = (id: string, run: number): string => join(exitFolder, `${id}.${run}`);
  /** Bytes so far; undefined if there is no log: not begun, pruned, or lost with a tmpfs. */
  const size = async (id: string): Promise<number | undefined> =>
    (await stat(fileOf(id)).catch(() => undefined))?.size;

  return {
    fileOf,
    exitFileOf,
    size,
    /** Reads at most `most` bytes of a log from `offset`. */
    read: (id: string, offset: number, most: number): Promise<Buffer> =>
      readPart(fileOf(id), most, offset).catch(ifThere(Buffer.alloc(0))),
    /** Begins an empty log. */
    create: async (id: string) => {
      await makeFolders();
      await appendFile(fileOf(id), '', { mode: 0o600 });
    },
    append: async (id: string, text: string) => {
      await keepFolders();
      await appendFile(fileOf(id), text, { mode: 0o600 });
    },
    keepFolders,
    /**
     * Resolves when the log has grown beyond `offset`, `wake` was called for the job, the time is
     * over or the signal aborts.
     */
    waitForMore: async (
      id: string,
      options: { offset: number; timeoutMs: number; signal?: AbortSignal },
    ) => {
      const { offset, timeoutMs, signal } = options;
      let wake: () => void = () => undefined;
      const woken = new Promise<void>((resolve) => (wake = resolve));
      const checkSize = async (): Promise<void> => {
        if (((await size(id)) ?? 0) > offset) wake();
      };
      wakes.once(fileOf(id), wake);
      signal?.addEventListener('abort', wake, { once: true });
      // The watch begins before the size is looked at, so that no write falls between the two.
      const watcher = watchPath(fileOf(id), () => void checkSize());
      const timer = setTimeout(wake, timeoutMs);
      try {
        if (signal?.aborted === true) return;
        await checkSize();
        await woken;
      } finally {
        clearTimeout(timer);
        watcher.close();
        wakes.off(fileOf(id), wake);
        signal?.removeEventListener('abort', wake);
      }
    },
    /** Lets those go who wait for the job: its state has changed. */
    wake: (id: string) => void wakes.emit(fileOf(id)),
    remove: (id: string) => rm(fileOf(id), { force: true }),
    removeExitFiles: async (id: string) => {
      // Exit files that are there: a damaged record may speak of any number.
      for (const name of await readdir(exitFolder).catch(ifThere([]))) {
        if (name.startsWith(`${id}.`)) await rm(join(exitFolder, name), { force: true });
      }
    },
    /** Removes the files of jobs that nobody knows any more. */
    removeUnknown: async (isKnown: (id: string) => boolean) => {
      // What lies in other folders, or behind links, is somebody else's.
      const exits = (await readdir(exitFolder)).map((name) => join('exits', name));
      for (const name of [...(await readdir(folder)), ...exits]) {
        const id = /(?:^|\/)([0-9a-f]{32})\./.exec(name)?.[1];
        if (id !== undefined && !isKnown(id)) await rm(join(folder, name), { force: true });
      }
    },
  };
}

/**
 * A line of the daemon's own for a task log. It ends as those that a terminal writes: a terminal
 * that shows it would go on below its end.
 */
export function ownLine(text: string): string {
  return `depotd: ${text}\r\n`;
}
