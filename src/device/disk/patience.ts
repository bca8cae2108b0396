import { readdir } from 'node:fs/promises';
import { createConcurrencyLimit } from '../concurrency-limit.ts';

/**
 * A call to a disk that has gone may never come back, and keeps one of libuv's four threads, which
 * all files are read by: of all such calls there are so many at a time.
 */
const MOST_CALLS = 2;

/** Asks a disk that may have gone. @throws DepotError unavailable if too many others wait */
export const askDisk = createConcurrencyLimit({
  most: MOST_CALLS,
  mostWaiting: 64,
  busy: 'cannot ask the disk: too many calls to disks do not come back',
});

/** @returns undefined if there is no answer in time */
export async function inTime<Answer>(
  answer: Promise<Answer>,
  limitMs: number,
): Promise<Answer | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const isOver = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), limitMs);
  });
  // It may fail when nobody waits for it any more.
  answer.catch(() => undefined);
  try {
    return await Promise.race([answer, isOver]);
  } finally {
    clearTimeout(timer);
  }
}

/** For a disk that lies still. */
const ANSWER_MS = 10_000;

/**
 * @returns whether the disk of a folder answers, the folder there or not. One that has not in time
 *   is not asked again before it does
 */
export function createDiskAsking(): (folder: string) => Promise<boolean> {
  const asked = new Map<string, Promise<boolean>>();
  const silent = new Set<string>();
  const ask = (folder: string): Promise<boolean> => {
    const read = (): Promise<boolean> => readdir(folder).then(answered, answered);
    return askDisk(read).finally(() => {
      asked.delete(folder);
      silent.delete(folder);
    });
  };
  return async (folder) => {
    if (silent.has(folder)) return false;
    const answer = asked.get(folder) ?? ask(folder);
    asked.set(folder, answer);
    const isThere = await inTime(answer, ANSWER_MS).catch(() => false);
    if (isThere === undefined) silent.add(folder);
    return isThere === true;
  };
}

function answered(): boolean {
  return true;
}
