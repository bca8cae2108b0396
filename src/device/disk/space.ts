import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { askDisk, inTime, shareAnswers } from './patience.ts';

export interface Space {
  totalBytes: number;
  usedBytes: number;
  /** What programs can use. */
  freeBytes: number;
}

/** A disk that has gone may keep statfs(2) waiting for ever. */
const SPACE_LIMIT_MS = 500;
const spaceOf = shareAnswers((folder) => askDisk(folder, () => askSpace(folder)));
const ownSpaceOf = shareAnswers(askSpace);

/** Space of a folder's file system (statvfs(3)); undefined for no folder, or none told in time. */
export function readSpace(folder: string): Promise<Space | undefined> {
  return inTime(spaceOf(folder), SPACE_LIMIT_MS).catch(() => undefined);
}

/** Space of the disk that the device runs from: it waits for no disk that has gone. */
export function readOwnSpace(folder: string): Promise<Space | undefined> {
  return inTime(ownSpaceOf(folder), SPACE_LIMIT_MS).catch(() => undefined);
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
