import { join } from 'node:path';
import type { OpkgConfig } from '../opkg-config.ts';
import {
  afterBlanks,
  endOfLine,
  hasAt,
  isBlank,
  NEWLINE,
  readUpToFault,
} from '../feeds/paragraphs.ts';
import { tooLarge, type PlanBudget } from './budget.ts';
import { emptyRecord, parseRecord, RECORD_FIELDS, type PackageRecord } from './package-records.ts';

/**
 * All that the feeds' lists offer, in the order in which opkg reads them. A plan needs few of them,
 * so they lie packed outside of V8's heap, and are unpacked once they are asked for.
 */
export interface PackedLists {
  /**
   * Has every record that is wanted. `isStandIn`: it provides or replaces something.
   * @throws DepotError with the code `plan_too_large`
   */
  read: (isWanted: IsWanted, visit: (record: PackageRecord) => void) => void;
  /** Finds a few records: they are unpacked each time, and not kept in memory. */
  find: (isWanted: IsWanted, visit: (record: PackageRecord) => void) => void;
}

/** Most of all lists together, packed; those of OpenWrt's own feeds take 2 MiB. */
const MOST_BYTES = 24 * 1024 ** 2;
const BLOCK_BYTES = 256 * 1024;
/** Looking at the name of a record, in steps of the budget. */
const STEPS_OF_A_NAME = 0.2;
/** What a record takes of memory, beside the names in it. */
const ENTRIES_OF_A_RECORD = 5;

/** @param purpose what is planned, such as `install demo` */
export async function readLists(
  { feeds, listsDir }: Pick<OpkgConfig, 'feeds' | 'listsDir'>,
  { purpose, budget }: { purpose: string; budget: PlanBudget },
): Promise<PackedLists> {
  const blocks: Block[] = [];
  let bytes = 0;
  for (const feed of new Set(feeds.map(({ name }) => name))) {
    const builder = createBlockBuilder(feed, (block) => blocks.push(block));
    for await (const piece of readUpToFault(join(listsDir, feed))) {
      bytes += builder.add(piece);
      if (bytes > MOST_BYTES) break;
    }
    builder.finish();
    if (bytes > MOST_BYTES) throw tooLarge(purpose, 'has too much to read', largest(blocks));
  }
  return createReader(blocks, budget);
}

/** Lists with a package file, which opkg installs in place of what feeds offer by its name. */
export function withFile({ read, find }: PackedLists, control: string): PackedLists {
  const record = { ...parseRecord(control), hasFile: true, status: '' };
  const isStandIn = record.provides !== '' || record.replaces !== '';
  const adding =
    (those: PackedLists['read']): PackedLists['read'] =>
    (isWanted, visit) => {
      those((name, isOther) => name !== record.name && isWanted(name, isOther), visit);
      if (isWanted(record.name, isStandIn)) visit(record);
    };
  return { read: adding(read), find: adding(find) };
}

function largest(blocks: readonly Block[]): string {
  const counts = new Map<string, number>();
  for (const { feed, bytes } of blocks) counts.set(feed, (counts.get(feed) ?? 0) + bytes.length);
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? '';
}

/**
 * Records of one feed. Of each: its length, where its name is and how long, and a line for each
 * field: a letter that says which, and the value.
 */
interface Block {
  feed: string;
  bytes: Buffer;
}

const HEAD_BYTES = 12;
/** Set in the name's length if the record provides or replaces something (`isStandIn`). */
const STAND_IN = 0x8000_0000;
const FIRST_LETTER = 'A'.charCodeAt(0);

const PACKED_FIELDS = RECORD_FIELDS.map(([field], index) => ({
  start: Buffer.from(`${field}:`),
  letter: FIRST_LETTER + index,
  isName: field === 'Package',
  isOfStandIn: field === 'Provides' || field === 'Replaces',
  /** Of a file's name it matters that there is one. */
  mostBytes: field === 'Filename' ? 1 : Infinity,
}));
/** By their first byte: most lines of a list begin with no such. */
const BY_FIRST = Array.from({ length: 256 }, (_, byte) =>
  PACKED_FIELDS.filter(({ start }) => start[0] === byte),
);

function createBlockBuilder(feed: string, onBlock: (block: Block) => void) {
  let bytes = Buffer.alloc(0);
  let end = 0;
  const finish = (): void => {
    if (end > 0) onBlock({ feed, bytes: Buffer.from(bytes.subarray(0, end)) });
    end = 0;
  };
  return {
    /** Packs a piece of whole paragraphs. @returns the bytes that takes */
    add: (piece: Buffer): number => {
      if (end >= BLOCK_BYTES) finish();
      // The shortest record, of a name alone, takes less than the double of its paragraph.
      const mostBytes = end + 2 * piece.length + HEAD_BYTES;
      if (mostBytes > bytes.length) bytes = Buffer.concat([bytes.subarray(0, end)], mostBytes);
      const before = end;
      end = packPiece(piece, bytes, end);
      return end - before;
    },
    finish,
  };
}

/**
 * Byte by byte, without a text or an object for any: a plan reads all of the lists so.
 * @returns where the last record ends
 */
function packPiece(piece: Buffer, target: Buffer, first: number): number {
  let start = first;
  let end = start + HEAD_BYTES;
  let [nameAt, nameBytes, standIn] = [0, 0, 0];
  const finishRecord = (): void => {
    if (nameBytes > 0) {
      target.writeUInt32LE(end - start, start);
      target.writeUInt32LE(nameAt - start, start + 4);
      target.writeUInt32LE(nameBytes + standIn, start + 8);
      start = end;
    }
    end = start + HEAD_BYTES;
    [nameAt, nameBytes, standIn] = [0, 0, 0];
  };
  for (let at = 0, next = 0; at < piece.length; at = next + 1) {
    const field = fieldAt(piece, at);
    next = endOfLine(piece, at);
    const from = afterBlanks(piece, at + (field?.start.length ?? 0), next);
    if (field === undefined) {
      if (from === next) finishRecord();
      continue;
    }
    const to = Math.min(beforeBlanks(piece, from, next), from + field.mostBytes);
    if (field.isName) [nameAt, nameBytes] = [end + 1, to - from];
    if (field.isOfStandIn && to > from) standIn = STAND_IN;
    target[end] = field.letter;
    end += 1;
    for (let byte = from; byte < to; byte += 1, end += 1) target[end] = piece[byte] ?? 0;
    target[end] = NEWLINE;
    end += 1;
  }
  finishRecord();
  return start;
}

/** What the line begins with; not by `find`, which takes a function each time. */
function fieldAt(piece: Buffer, at: number): (typeof PACKED_FIELDS)[number] | undefined {
  for (const field of BY_FIRST[piece[at] ?? 0] ?? []) {
    if (hasAt(piece, at, field.start)) return field;
  }
  return undefined;
}

function beforeBlanks(piece: Buffer, from: number, end: number): number {
  let last = end;
  while (last > from && isBlank(piece[last - 1])) last -= 1;
  return last;
}

function createReader(blocks: readonly Block[], budget: PlanBudget): PackedLists {
  /** Unpacked records by their position in the blocks. */
  const known = new Map<number, PackageRecord>();
  const keep = (number: number, record: PackageRecord): void => {
    budget.keep(ENTRIES_OF_A_RECORD, record.feed);
    known.set(number, record);
  };
  // One loop that makes no objects: each call goes over every record there is.
  const goOver =
    (isKept: boolean): PackedLists['read'] =>
    (isWanted, visit) => {
      let number = 0;
      for (const { feed, bytes } of blocks) {
        const first = number;
        for (let at = 0; at < bytes.length; number += 1) {
          const start = at;
          const nameAt = start + bytes.readUInt32LE(start + 4);
          const head = bytes.readUInt32LE(start + 8);
          at += bytes.readUInt32LE(start);
          const name = bytes.toString('utf8', nameAt, nameAt + (head % STAND_IN));
          if (!isWanted(name, head >= STAND_IN)) continue;
          let record = known.get(number);
          if (record === undefined) {
            record = unpacked(bytes.toString('utf8', start + HEAD_BYTES, at - 1), feed);
            if (isKept) keep(number, record);
          }
          visit(record);
        }
        budget.spend((number - first) * STEPS_OF_A_NAME, feed);
      }
    };
  return { read: goOver(true), find: goOver(false) };
}

type IsWanted = (name: string, isStandIn: boolean) => boolean;

function unpacked(lines: string, feed: string): PackageRecord {
  const record = emptyRecord();
  record.feed = feed;
  for (const line of lines.split('\n')) {
    RECORD_FIELDS[line.charCodeAt(0) - FIRST_LETTER]?.[1](record, line.slice(1));
  }
  return record;
}
