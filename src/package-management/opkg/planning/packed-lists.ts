import { join } from 'node:path';
import type { OpkgConfig } from '../opkg-config.ts';
import { paragraphsIn, readPieces } from '../feeds/paragraphs.ts';
import { tooLarge, type PlanBudget } from './budget.ts';
import { emptyRecord, parseRecord, type PackageRecord } from './package-records.ts';

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
    try {
      for await (const piece of readPieces(join(listsDir, feed))) {
        for (const paragraph of paragraphsIn(piece)) {
          const record = parseRecord(paragraph);
          if (record.name !== '') bytes += builder.add(record);
        }
        if (bytes > MOST_BYTES) break;
      }
    } catch {
      // A list that is not there or damaged: opkg, too, goes on with what it could read.
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

/** Records of one feed. Of each: the lengths of all of it and of its name, the name, the rest. */
interface Block {
  feed: string;
  bytes: Buffer;
}

const HEAD_BYTES = 8;
/** Set in the name's length if the record provides or replaces something (`isStandIn`). */
const STAND_IN = 0x8000_0000;
/** The most bytes that UTF-8 needs for one character of a JavaScript text. */
const CHARACTER_BYTES = 3;

function createBlockBuilder(feed: string, onBlock: (block: Block) => void) {
  let bytes = Buffer.alloc(0);
  let end = 0;
  const finish = (): void => {
    if (end > 0) onBlock({ feed, bytes: Buffer.from(bytes.subarray(0, end)) });
    end = 0;
  };
  return {
    add: (record: PackageRecord): number => {
      const { name, provides, replaces } = record;
      const rest = restOf(record);
      const mostBytes = HEAD_BYTES + (name.length + rest.length) * CHARACTER_BYTES;
      if (end + mostBytes > bytes.length) {
        finish();
        if (mostBytes > bytes.length) bytes = Buffer.alloc(Math.max(BLOCK_BYTES, mostBytes));
      }
      const isStandIn = provides !== '' || replaces !== '';
      const nameBytes = bytes.write(name, end + HEAD_BYTES);
      const length = HEAD_BYTES + nameBytes + bytes.write(rest, end + HEAD_BYTES + nameBytes);
      bytes.writeUInt32LE(length, end);
      bytes.writeUInt32LE(nameBytes + (isStandIn ? STAND_IN : 0), end + 4);
      end += length;
      return length;
    },
    finish,
  };
}

/** All but the name, one field a line. */
function restOf(record: PackageRecord): string {
  const { downloadBytes, installedBytes, isReplacement, isAuto, isEssential, hasFile } = record;
  const flags = [hasFile, isReplacement, isAuto, isEssential].map(Number).join('');
  const texts = TEXTS.map((field) => record[field]).join('\n');
  return `${flags}\n${downloadBytes}\n${installedBytes}\n${texts}`;
}

const TEXTS = [
  'version',
  'architecture',
  'depends',
  'recommends',
  'suggests',
  'conflicts',
  'provides',
  'replaces',
  'status',
] as const satisfies readonly (keyof PackageRecord)[];

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
          const end = at + bytes.readUInt32LE(at);
          const head = bytes.readUInt32LE(at + 4);
          const nameEnd = at + HEAD_BYTES + (head % STAND_IN);
          const name = bytes.toString('utf8', at + HEAD_BYTES, nameEnd);
          at = end;
          if (!isWanted(name, head >= STAND_IN)) continue;
          let record = known.get(number);
          if (record === undefined) {
            record = unpacked(name, bytes.toString('utf8', nameEnd, end), feed);
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

/** All members in the same order (one hidden class): there may be 200,000 records. */
function unpacked(name: string, rest: string, feed: string): PackageRecord {
  const [flags = '', downloadBytes, installedBytes, ...values] = rest.split('\n');
  const isSet = (index: number): boolean => flags[index] === '1';
  const record = emptyRecord();
  TEXTS.forEach((field, index) => (record[field] = values[index] ?? ''));
  record.feed = feed;
  record.name = name;
  record.hasFile = isSet(0);
  record.downloadBytes = Number(downloadBytes);
  record.installedBytes = Number(installedBytes);
  record.isReplacement = isSet(1);
  record.isAuto = isSet(2);
  record.isEssential = isSet(3);
  return record;
}
