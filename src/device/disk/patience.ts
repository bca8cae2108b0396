import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { createConcurrencyLimit, type ConcurrencyLimit } from '../concurrency-limit.ts';
import { isInsideFolder } from '../inside-folder.ts';
import { parseMountTable } from './mounts.ts';

/**
 * A call to a disk that has gone may never come back, and keeps one of libuv's four threads, which
 * all files are read by: of all such calls there are so many at a time.
 */
const MOST_CALLS = 2;

const WAITING = {
  mostWaiting: 64,
  busy: 'cannot ask the disk: too many calls to disks do not come back',
};
const ofAll = createConcurrencyLimit({ most: MOST_CALLS, ...WAITING });
const disks = new Map<string, ConcurrencyLimit>();

/**
 * Each disk is asked one thing at a time, so that one that has gone does not keep all calls.
 * @throws DepotError unavailable if too many others wait
 */
export function askDisk<Answer>(path: string, work: () => Promise<Answer>): Promise<Answer> {
  const disk = mountedDisk(path);
  if (disk === undefined) return ofAll(work);
  const limit = disks.get(disk) ?? createConcurrencyLimit({ most: 1, ...WAITING });
  disks.set(disk, limit);
  return limit(() => ofAll(work));
}

/** By the mount table, so that the disk itself is not asked; undefined for the one of `/`. */
function mountedDisk(path: string): string | undefined {
  let nearest = { path: '/', device: '' };
  for (const mount of parseMountTable(mountTable())) {
    const isNearer = mount.path.length >= nearest.path.length;
    if (isNearer && (path === mount.path || isInsideFolder(path, mount.path))) nearest = mount;
  }
  return nearest.path === '/' ? undefined : nearest.device;
}

function mountTable(): string {
  try {
    return readFileSync('/proc/self/mountinfo', 'utf8');
  } catch {
    // No descriptors are left.
    return '';
  }
}

/** @returns undefined if there is no answer in time */
export async function inTime<Answer>(
  answer: Promise<Answer>,
  limitMs: number,
): Promise<Answer | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const isOver = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), limitMs);
  });
  // The answer may fail when nobody waits for it any more.
  answer.catch(() => undefined);
  try {
    return await Promise.race([answer, isOver]);
  } finally {
    clearTimeout(timer);
  }
}

/** Single flight by folder: one question to the disk at a time, shared by all who ask meanwhile. */
export function shareAnswers<Answer>(
  ask: (folder: string) => Promise<Answer>,
): (folder: string) => Promise<Answer> {
  const asked = new Map<string, Promise<Answer>>();
  return (folder) => {
    const answer = asked.get(folder) ?? ask(folder).finally(() => asked.delete(folder));
    asked.set(folder, answer);
    return answer;
  };
}

/** Longest wait for a disk that lies still. */
const ANSWER_MS = 10_000;

/**
 * @returns whether a folder's disk answers, the folder there or not; one that has not in time is
 *   not asked again before it does
 */
export function createDiskAsking(): (folder: string) => Promise<boolean> {
  const silent = new Set<string>();
  const ask = shareAnswers((folder) => {
    const read = (): Promise<boolean> => readdir(folder).then(answered, answered);
    return askDisk(folder, read).finally(() => silent.delete(folder));
  });
  return async (folder) => {
    if (silent.has(folder)) return false;
    const isThere = await inTime(ask(folder), ANSWER_MS).catch(() => false);
    if (isThere === undefined) silent.add(folder);
    return isThere === true;
  };
}

function answered(): boolean {
  return true;
}
