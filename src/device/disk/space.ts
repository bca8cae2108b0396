import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createConcurrencyLimit } from '../concurrency-limit.ts';

/** How full a file system is, in bytes. */
export interface Space {
  totalBytes: number;
  usedBytes: number;
  /** What programs can use. */
  freeBytes: number;
}

/** A disk that has gone may keep statfs(2) waiting for ever. */
const SPACE_LIMIT_MS = 500;
/**
 * Each question that does not come back keeps one of libuv's four threads, which all files are read
 * by: of one folder there is one at a time, and of all of them so many.
 */
const MOST_ASKED = 2;
const limited = createConcurrencyLimit({
  most: MOST_ASKED,
  mostWaiting: 64,
  busy: 'cannot tell how full a disk is: too many do not answer',
});
const asked = new Map<string, Promise<Space | undefined>>();

/**
 * Of the file system of a folder (statvfs(3)); undefined for what is no folder, or does not answer
 * in time.
 */
export async function readSpace(folder: string): Promise<Space | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const isOver = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), SPACE_LIMIT_MS);
  });
  try {
    return await Promise.race([askOnce(folder), isOver]);
  } catch {
    // Gone, or not a mount any more.
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

function askOnce(folder: string): Promise<Space | undefined> {
  const known = asked.get(folder);
  if (known !== undefined) return known;
  const question = limited(() => askSpace(folder)).finally(() => asked.delete(folder));
  asked.set(folder, question);
  // It may end when nobody waits for it any more.
  question.catch(() => undefined);
  return question;
}

async function askSpace(folder: string): Promise<Space | undefined> {
  if (!(await stat(folder)).isDirectory()) return undefined;
  const { blocks, bfree, bavail, bsize } = await statfs(folder);
  return {
    totalBytes: blocks * bsize,
    usedBytes: (blocks - bfree) * bsize,
    freeBytes: bavail * bsize,
  };
}

/** Whether what lies in both folders takes the same room; of one that is not there, its parent. */
export async function isSameDisk(folder: string, other: string): Promise<boolean> {
  return (await deviceOf(folder)) === (await deviceOf(other));
}

async function deviceOf(folder: string): Promise<number> {
  return (await stat(folder).catch(() => stat(dirname(folder)))).dev;
}

/** What programs can use of the file system of a folder, in bytes (statvfs(3)). */
export async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
