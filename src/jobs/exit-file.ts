import { readFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { unlessShort } from '../device/shortage.ts';
import { watchPath } from '../device/watch-path.ts';

/**
 * How a command ended: its exit code, and whether what it was to write down is on the disk; that it
 * never started; or that its holder is gone without having left a code. What the holder started may
 * still run then.
 */
export type Exit = { exitCode: number; isWritten: boolean } | 'not-run' | 'lost';

/** The watch is what reports; this is for a holder that was killed and leaves nothing to watch. */
const LIVENESS_MS = 1000;

interface Waiting {
  file: string;
  /** Process id of the command's holder. */
  pid: number;
  /** Whether the holder is there; throws if that cannot be found out. */
  isAlive: () => Promise<boolean>;
  /** Hints that the holder went, if this daemon is its parent; its code is the command's. */
  ended?: Promise<number | undefined>;
}

/** Waits until a command has ended, whoever started it. A check that fails is not an end. */
export async function waitForExit(waiting: Waiting): Promise<Exit> {
  let wake: () => void = () => undefined;
  const folder = dirname(waiting.file);
  // If the watched folder itself is removed, the event has the folder's name.
  const names = [undefined, basename(waiting.file), basename(folder)];
  const watcher = watchPath(folder, (name) => {
    if (names.includes(name)) wake();
  });
  void waiting.ended?.then(() => wake());
  try {
    for (;;) {
      const woken = new Promise<void>((resolve) => (wake = resolve));
      const exit = await findExit(waiting);
      if (exit === 'lost') {
        // No exit file: there was no room when the command began, or the holder was killed.
        const exitCode = await waiting.ended;
        return exitCode === undefined ? 'lost' : { exitCode, isWritten: false };
      }
      if (exit !== undefined) return exit;
      const timer = setTimeout(wake, LIVENESS_MS);
      await woken;
      clearTimeout(timer);
    }
  } finally {
    watcher.close();
  }
}

/** @returns undefined if the command runs, or if that cannot be found out at the moment */
async function findExit({ file, pid, isAlive }: Waiting): Promise<Exit | undefined> {
  try {
    const exit = await readExit(file, pid);
    if (exit !== undefined || (await isAlive())) return exit;
    // The holder may have written its code since.
    return (await readExit(file, pid)) ?? 'lost';
  } catch {
    return undefined;
  }
}

/**
 * A file that another holder wrote, one that never got its go, says nothing of this command.
 * @throws an Error of Node if that cannot be known for the moment
 */
async function readExit(file: string, pid: number): Promise<Exit | undefined> {
  const text = await readFile(file, 'latin1').catch(unlessShort(''));
  const [code = '', holder, ...rest] = text.split('\n');
  // An exit file ends with what was there before: only both lines with their ends are whole.
  if (rest.length === 0 || holder !== String(pid)) return undefined;
  if (code === 'not-run') return 'not-run';
  // A damaged file says no more than none.
  return /^\d{1,3}$/.test(code)
    ? { exitCode: Number(code), isWritten: rest.length > 1 && rest[0] === 'written' }
    : undefined;
}

/** Code of a command that left none: it was killed with its holder. 128 + SIGKILL, as in shells. */
export const KILLED = 137;
