import {
  chmodSync,
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeFileSync,
  type Stats,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import * as v from 'valibot';
import { DepotError, orElse, reasonOf } from '../errors.ts';
import type { Log } from '../log.ts';
import { parseJson } from './durable-file.ts';
import { lockDescriptor } from './exec.ts';
import { isStillAt, openLockFile } from './lock-file.ts';
import type { Processes } from './ports.ts';
import { readProcess } from './process-table.ts';

const NOTE_FILE = 'daemon.json';
const LOCK_FILE = 'daemon.lock';
const claim = v.object({ pid: v.number(), startTicks: v.number(), bootId: v.string() });

/** A daemon finishes answers for 5 s, and its successor is often started before that. */
const WAIT_MS = 10_000;
const POLL_MS = 50;

export interface ClaimOptions {
  /** The state folder. */
  folder: string;
  processes: Pick<Processes, 'bootId' | 'isAlive'>;
  /** The whole environment of the program flock. */
  environment: Record<string, string>;
  log: Pick<Log, 'warn'>;
  waitMs?: number;
}

/**
 * Lets one daemon at a time work with the state folder: a second one would write the job records
 * anew under the first, run the same jobs, and take the first one's uploads for left behind.
 *
 * The lock is the kernel's: flock(2) on a file in the folder that no other user can open, which is
 * there in every namespace that sees the folder. It belongs to the open file description, so that
 * the program flock(1), which sets it on the descriptor that it inherits, may end, and the lock
 * goes with this process, however that ends (docs/reference/jobs.md). The note beside it says who
 * holds the lock, and keeps out a version of depotd that knows no such lock. Files are read and
 * written at once, not by another thread: nobody is answered yet.
 * @throws DepotError unavailable if another daemon has not ended within `waitMs`
 */
export async function claimState(options: ClaimOptions): Promise<void> {
  const deadline = performance.now() + (options.waitMs ?? WAIT_MS);
  makeFolder(options);
  await lock(options, deadline);
  await waitForHolder(options, deadline);
  removeUnfinished(options.folder);
  const { pid } = process;
  const startTicks = readProcess(pid)?.startTicks ?? 0;
  writeNote(options.folder, { pid, startTicks, bootId: await options.processes.bootId() });
}

function makeFolder({ folder, log }: ClaimOptions): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    const cause = { cause: error };
    throw new DepotError('unavailable', `cannot make ${folder}: ${reasonOf(error)}`, cause);
  }
  closeToOthers(folder, log);
}

/** The descriptor is a number: a FileHandle would be closed as soon as nobody refers to it. */
async function lock(options: ClaimOptions, deadline: number): Promise<void> {
  const { folder, environment, log } = options;
  const file = join(folder, LOCK_FILE);
  const descriptor = openLock(options);
  const result = await lockDescriptor(descriptor.number, {
    environment,
    timeoutMs: Math.max(0, deadline - performance.now()),
  });
  if (result === 'locked' && (descriptor.isFolder || isStillAt(file, descriptor.number))) return;
  closeSync(descriptor.number);
  if (result === 'locked') return lock(options, deadline);
  if (result === 'held') throw heldBy(readNote(folder));
  log.warn(
    { folder },
    'cannot lock the state folder: two daemons started in one moment are not kept apart',
  );
}

/** Without room for the file, which is there from the first start on, the folder is locked. */
function openLock({ folder, log }: ClaimOptions): { number: number; isFolder: boolean } {
  try {
    return { number: openLockFile(join(folder, LOCK_FILE)), isFolder: false };
  } catch (error) {
    log.warn(
      { folder, reason: reasonOf(error) },
      'cannot open the lock file: the folder is locked',
    );
    return { number: openSync(folder, 'r'), isFolder: true };
  }
}

/** One made by hand is empty at the first start; any other may be shared on purpose. */
function closeToOthers(folder: string, log: ClaimOptions['log']): void {
  if ((statSync(folder).mode & 0o077) === 0) return;
  const isEmpty = readdirSync(folder).length === 0;
  try {
    if (isEmpty) chmodSync(folder, 0o700);
  } catch {
    // The folder's mode stays as it is.
  }
  if ((statSync(folder).mode & 0o077) === 0) return;
  log.warn({ folder }, 'other users can open the state folder');
}

/** A holder without a lock is of a version that knows none. */
async function waitForHolder({ folder, processes }: ClaimOptions, deadline: number): Promise<void> {
  for (;;) {
    const note = readNote(folder);
    if (note === undefined || note.pid === process.pid) return;
    if (!(await processes.isAlive({ ...note, isOnTerminal: false }))) return;
    if (performance.now() > deadline) throw heldBy(note);
    await delay(POLL_MS);
  }
}

/** Files as `replaceFile` names and makes what is to take the place of a record. */
const UNFINISHED =
  /^[a-z0-9][a-z0-9-]*(?:\.(?:json|apk|sh|cjs)|(?:\.tar|\.before(?:\.2)?)?\.gz)?\.\d{1,7}\.new$/;

/**
 * What killed daemons left beside records in any folder of the state: nobody replaces any now. What
 * is a link, somebody else's or for others to read stays.
 */
function removeUnfinished(folder: string): void {
  const isOwn = ({ uid }: Stats): boolean => uid === process.getuid?.();
  try {
    const { mode } = statSync(folder);
    if ((mode & 0o022) !== 0) return;
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (!entry.isDirectory() && !UNFINISHED.test(entry.name)) continue;
      const found = lstatSync(path);
      if (!isOwn(found)) continue;
      if (found.isDirectory()) removeUnfinished(path);
      else if (found.isFile() && (found.mode & 0o777) === 0o600) unlinkSync(path);
    }
  } catch {
    // Unfinished files are small, and the next start tries again.
  }
}

type Claim = v.InferOutput<typeof claim>;

function readNote(folder: string): Claim | undefined {
  const text = orElse(() => readFileSync(join(folder, NOTE_FILE), 'utf8'), '');
  const found = v.safeParse(claim, parseJson(text));
  return found.success ? found.output : undefined;
}

/** Not synced: what a power cut leaves of it names nobody who is alive. */
function writeNote(folder: string, note: Claim): void {
  const file = join(folder, NOTE_FILE);
  try {
    // A link in its place is not followed. Not by `rmSync`, for which Node compiles a module.
    if (lstatSync(file, { throwIfNoEntry: false }) !== undefined) unlinkSync(file);
    writeFileSync(file, `${JSON.stringify(note)}\n`, { flag: 'wx', mode: 0o600 });
  } catch {
    // A folder without room for it has none for job records either, which are what is at stake.
  }
}

function heldBy(note: { pid: number } | undefined): DepotError {
  const who = note === undefined ? 'another process' : `process ${note.pid}`;
  return new DepotError('unavailable', `cannot start: ${who} works with the same main.state_dir`);
}
