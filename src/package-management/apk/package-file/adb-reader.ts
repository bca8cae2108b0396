import { createNameBudget, type NameBudget } from '../../names.ts';

/**
 * Values of apk's database format (adb(5), apk-tools 3.0.5 src/adb.h), read from the first block of
 * a package file. A value is 32 bits, little endian: four for its type, 28 for itself or for where
 * it stands. Whatever points outside of the block is refused.
 */
export interface AdbObject {
  /** @returns undefined if the field is not set */
  text: (field: number) => string | undefined;
  number: (field: number) => number | undefined;
  object: (field: number) => AdbObject | undefined;
  /** The items of an array of objects. */
  objects: (field: number) => Generator<AdbObject>;
}

const INT = 0x1;
const INT_32 = 0x2;
const INT_64 = 0x3;
const BLOB_8 = 0x8;
const BLOB_16 = 0x9;
const BLOB_32 = 0xa;
const ARRAY = 0xd;
const OBJECT = 0xe;
/** `adb_hdr`: two versions, two bytes unused, and the root value. */
const ROOT_AT = 4;
/** Arrays point to arrays: a package's own nesting is four deep. */
const MOST_ITEMS = 1_000_000;

/**
 * @param spend is told of each text that is read, and of each item: many may stand for one
 * @throws an Error if it is no such block
 */
export function readAdb(block: Buffer, spend = createNameBudget()): AdbObject {
  const [compatible = 1] = block;
  if (block.length < 8 || compatible !== 0) throw malformed();
  return objectAt({ block, spend }, block.readUInt32LE(ROOT_AT));
}

interface Source {
  block: Buffer;
  spend: NameBudget;
}

function malformed(): Error {
  return new Error('its description is damaged');
}

function objectAt(source: Source, value: number): AdbObject {
  const { block, spend } = source;
  const kind = value >>> 28;
  if (kind !== OBJECT && kind !== ARRAY) throw malformed();
  const at = value & 0x0fffffff;
  const count = numberAt(block, at);
  // The first number of an ADB object or array is how many there are.
  if (count < 1 || count > MOST_ITEMS || at + count * 4 > block.length) throw malformed();
  const valueOf = (index: number): number =>
    index > 0 && index < count ? numberAt(block, at + index * 4) : 0;
  const object = (index: number): AdbObject | undefined => {
    const field = valueOf(index);
    return field === 0 ? undefined : objectAt(source, field);
  };
  return {
    text: (index) => textAt(source, valueOf(index)),
    number: (index) => integerIn(block, valueOf(index)),
    object,
    *objects(index) {
      const field = valueOf(index);
      if (field === 0) return;
      const array = objectAt(source, field);
      const length = numberAt(block, field & 0x0fffffff);
      for (let item = 1; item < length; item += 1) {
        spend('');
        const found = array.object(item);
        if (found !== undefined) yield found;
      }
    },
  };
}

function numberAt(block: Buffer, at: number): number {
  if (at + 4 > block.length) throw malformed();
  return block.readUInt32LE(at);
}

function textAt({ block, spend }: Source, value: number): string | undefined {
  if (value === 0) return undefined;
  const at = value & 0x0fffffff;
  const widths: Record<number, 1 | 2 | 4> = { [BLOB_8]: 1, [BLOB_16]: 2, [BLOB_32]: 4 };
  const width = widths[value >>> 28];
  if (width === undefined || at + width > block.length) throw malformed();
  const length = block.readUIntLE(at, width);
  const from = at + width;
  if (from + length > block.length) throw malformed();
  const text = block.toString('utf8', from, from + length);
  spend(text);
  return text;
}

/** Small ones stand in the value itself. */
function integerIn(block: Buffer, value: number): number | undefined {
  const kind = value >>> 28;
  const at = value & 0x0fffffff;
  if (kind === INT) return at;
  if (kind === INT_32) return numberAt(block, at);
  if (kind !== INT_64) return undefined;
  return numberAt(block, at) + numberAt(block, at + 4) * 2 ** 32;
}
