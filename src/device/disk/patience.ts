import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { orElse, succeeds } from '../../errors.ts';
import { createConcurrencyLimit, type ConcurrencyLimit } from '../concurrency-limit.ts';
import { isAtOrIn } from '../inside-folder.ts';
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
  // It cannot be read where no descriptors are left.
  const table = orElse(() => readFileSync('/proc/self/mountinfo', 'utf8'), '');
  for (const mount of parseMountTable(table)) {
    const isNearer = mount.path.length >= nearest.path.length;
    if (isNearer && isAtOrIn(path, mount.path)) nearest = mount;
  }
  return nearest.path === '/' ? undefined : nearest.device;
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
 * One that has not answered in time is not asked again before it does.
 * @param onSilent told of it once
 * @returns what asks the disk of a folder; undefined stands for no answer
 */
export function createPatience<Answer>(
  ask: (folder: string) => Promise<Answer>,
  onSilent: (folder: string) => void = () => undefined,
): (folder: string) => Promise<Answer | undefined> {
  const silent = new Set<string>();
  return async (folder) => {
    if (silent.has(folder)) return undefined;
    const answer = askDisk(folder, () => ask(folder));
    const found = await inTime(answer, ANSWER_MS).catch(() => undefined);
    if (found !== undefined) return found;
    onSilent(folder);
    silent.add(folder);
    const end = (): boolean => silent.delete(folder);
    void answer.then(end, end);
    return undefined;
  };
}

/** @returns whether a folder's disk answers, the folder there or not */
export function createDiskAsking(): (folder: string) => Promise<boolean> {
  const isThere = (folder: string): Promise<boolean> => succeeds(readdir(folder));
  const answers = shareAnswers(createPatience(isThere));
  return async (folder) => (await answers(folder)) !== undefined;
}
