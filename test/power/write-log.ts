import { open, readFile } from 'node:fs/promises';

import { copyDisk } from './machine.ts';
import type { Draw } from './cuts.ts';

/**
 * What was written to a disk, in the order in which it had to last: the log of dm-log-writes
 * (the kernel's admin-guide/device-mapper/log-writes.rst). From it the disk is made as it would be
 * if the power went at any point, and the disk had lost or reordered what no flush had secured.
 */
export interface WriteLog {
  readonly entries: readonly Entry[];
}

interface Entry {
  /** In bytes. */
  at: number;
  data: Buffer;
  isFlush: boolean;
  /** It is on the medium when it is answered. */
  isForced: boolean;
  /** What the guest called this point. */
  mark: string;
}

const SECTOR_BYTES = 512;
const [FLUSH, FORCED, DISCARD, MARK] = [1, 2, 4, 8];
const HEAD_BYTES = 32;

export async function readWriteLog(file: string): Promise<WriteLog> {
  const bytes = await readFile(file);
  const numberAt = (offset: number): number => Number(bytes.readBigUInt64LE(offset));
  const entries: Entry[] = [];
  // The first sector has a count that may be older than the last entries.
  for (let offset = SECTOR_BYTES; offset + HEAD_BYTES <= bytes.length;) {
    const [sector = 0, count = 0, flags = 0, textBytes = 0] = [0, 8, 16, 24].map((field) =>
      numberAt(offset + field),
    );
    if (sector === 0 && count === 0 && flags === 0) break;
    const isMark = (flags & MARK) !== 0;
    const text = offset + HEAD_BYTES;
    const start = offset + SECTOR_BYTES;
    const size = (flags & DISCARD) === 0 ? count * SECTOR_BYTES : 0;
    entries.push({
      at: sector * SECTOR_BYTES,
      data: bytes.subarray(start, start + size),
      isFlush: (flags & FLUSH) !== 0,
      isForced: (flags & FORCED) !== 0,
      mark: isMark ? bytes.toString('utf8', text, text + textBytes).replace(/\0.*$/s, '') : '',
    });
    offset = start + size;
  }
  return { entries };
}

/** A point of the log, and what the guest had said by then. */
export interface LoggedCut {
  /** How many entries the disk had been given. */
  entries: number;
  /** Of these, how many it lost. */
  lost: number;
  marks: readonly string[];
}

/** Makes the disk as a cut at a drawn point might leave it. */
export async function composeDisk(
  { entries }: WriteLog,
  { base, disk, draw }: { base: string; disk: string; draw: Draw },
): Promise<LoggedCut> {
  const end = Math.floor(draw() * (entries.length + 1));
  const given = entries.slice(0, end);
  const secured = given.findLastIndex(({ isFlush }) => isFlush);
  const share = draw();
  const kept = given.filter(
    ({ isForced, data }, index) =>
      index <= secured || isForced || data.length === 0 || draw() < share,
  );
  const written = kept.filter(({ data }) => data.length > 0);
  await copyDisk(base, disk);
  const handle = await open(disk, 'r+');
  try {
    for (const { at, data } of written) await handle.write(data, 0, data.length, at);
  } finally {
    await handle.close();
  }
  const marks = given.flatMap(({ mark }) => (mark === '' ? [] : [mark]));
  return { entries: end, lost: given.length - kept.length, marks };
}
