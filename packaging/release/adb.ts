import { deflateRawSync, constants } from 'node:zlib';

/**
 * Writes apk's database format (adb(5), apk-tools 3 src/adb.h): what its packages and the indexes
 * of its feeds are. The same calls in the same order always give the same bytes.
 */

/** A value: four bits for its type, 28 for itself or for where it stands. 0: none. */
export type AdbValue = number;

const TYPE = {
  int: 0x1,
  int32: 0x2,
  blob8: 0x8,
  blob16: 0x9,
  blob32: 0xa,
  array: 0xd,
  object: 0xe,
} as const;

export interface AdbWriter {
  number: (value: number) => AdbValue;
  blob: (content: string | Buffer) => AdbValue;
  /** Bytes that are written over later: shared with nothing of the same content. */
  room: (bytes: number) => { value: AdbValue; at: number };
  /** Fields by their number, beginning with 1. */
  object: (fields: Readonly<Record<number, AdbValue>>) => AdbValue;
  array: (items: readonly AdbValue[]) => AdbValue;
  finish: (root: AdbValue) => Buffer;
}

export function createAdbWriter(): AdbWriter {
  const chunks: Buffer[] = [Buffer.alloc(8)];
  let length = 8;
  const known = new Map<string, number>();

  const place = (content: Buffer, alignment: number): number => {
    const padding = (alignment - (length % alignment)) % alignment;
    const at = length + padding;
    chunks.push(Buffer.alloc(padding), content);
    length = at + content.length;
    return at;
  };
  const once = (content: Buffer, alignment: number): number => {
    const key = `${alignment} ${content.toString('latin1')}`;
    const at = known.get(key) ?? place(content, alignment);
    known.set(key, at);
    return at;
  };
  const words = (type: number, values: readonly AdbValue[]): AdbValue => {
    const last = values.findLastIndex((value) => value !== 0);
    if (last === -1) return 0;
    const kept = values.slice(0, last + 1);
    return valueOf(type, once(Buffer.concat([kept.length + 1, ...kept].map(word)), 4));
  };

  return {
    number: (value) => {
      if (value >= 2 ** 32) throw new Error(`cannot write ${value}: more than 32 bits`);
      return value < 0x10000000
        ? valueOf(TYPE.int, value)
        : valueOf(TYPE.int32, once(word(value), 4));
    },
    blob: (content) => {
      const bytes = Buffer.from(content);
      if (bytes.length === 0) return 0;
      const { type, width } = widthOf(bytes.length);
      const head = Buffer.alloc(width);
      head.writeUIntLE(bytes.length, 0, width);
      return valueOf(type, once(Buffer.concat([head, bytes]), width));
    },
    room: (bytes) => {
      const at = place(Buffer.from([bytes, ...Buffer.alloc(bytes)]), 1);
      return { value: valueOf(TYPE.blob8, at), at: at + 1 };
    },
    object: (fields) => {
      const count = Math.max(0, ...Object.keys(fields).map(Number));
      const values = Array.from({ length: count }, (_, index) => fields[index + 1] ?? 0);
      return words(TYPE.object, values);
    },
    array: (items) => words(TYPE.array, items),
    finish: (root) => {
      const block = Buffer.concat(chunks);
      block.writeUInt32LE(root, 4);
      return block;
    },
  };
}

function valueOf(type: number, rest: number): AdbValue {
  return type * 0x10000000 + rest;
}

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function widthOf(length: number): { type: number; width: 1 | 2 | 4 } {
  if (length <= 0xff) return { type: TYPE.blob8, width: 1 };
  return length <= 0xffff ? { type: TYPE.blob16, width: 2 } : { type: TYPE.blob32, width: 4 };
}

/** What a file holds, by its four letters. */
export type AdbSchema = 'pckg' | 'indx';

export const BLOCK = { database: 0, signature: 1, data: 2 } as const;

const BLOCK_ALIGNMENT = 8;

export function adbBlock(type: number, content: Buffer): Buffer {
  const size = 4 + content.length;
  if (size >= 0x40000000) throw new Error('cannot write a block of a gigabyte');
  const padding = (BLOCK_ALIGNMENT - (size % BLOCK_ALIGNMENT)) % BLOCK_ALIGNMENT;
  return Buffer.concat([word(type * 0x40000000 + size), content, Buffer.alloc(padding)]);
}

/**
 * A whole file, deflated. Signatures are not: whoever compares two builds finds the rest equal, and
 * equally long, to the byte.
 */
export function adbFile(
  schema: AdbSchema,
  { database, signatures, data }: { database: Buffer; signatures: Buffer[]; data: Buffer[] },
): Buffer {
  const head = Buffer.concat([
    Buffer.from(`ADB.${schema}`, 'latin1'),
    adbBlock(BLOCK.database, database),
  ]);
  return Buffer.concat([
    Buffer.from('ADBd'),
    deflateRawSync(head, { level: 9, finishFlush: constants.Z_SYNC_FLUSH }),
    ...signatures.map(stored),
    deflateRawSync(Buffer.concat(data), { level: 9 }),
  ]);
}

/** A block of RFC 1951 that is not compressed, and not the last one. */
function stored(content: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt16LE(content.length, 1);
  head.writeUInt16LE(~content.length & 0xffff, 3);
  return Buffer.concat([head, content]);
}
