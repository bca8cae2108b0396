/**
 * libubox's binary form of data, `blob` and `blobmsg`. Every attribute begins at a multiple of four
 * bytes with one word, big-endian: a flag in bit 31, an id or type in bits 24 to 30, and in the
 * rest its length with this word and without padding. Source: docs/reference/ubus.md.
 */

/** What a message holds, as JSON would have it. */
export type UbusValue = string | number | boolean | UbusValue[] | UbusTable;
export interface UbusTable {
  [name: string]: UbusValue;
}

/** What of a table is wanted: all of a value, or these names of it. The rest is skipped unread. */
export type Wanted = true | { readonly [name: string]: Wanted };

const WORD_BYTES = 4;
const EXTENDED = 0x80000000;
const TYPE = { array: 1, table: 2, string: 3, int64: 4, int32: 5, int16: 6, int8: 7, double: 8 };
/** Deeper than any message of rpcd; a chain of tables must not exhaust the stack. */
const MOST_DEPTH = 16;

/** @throws RangeError if an attribute is longer than its frame */
export function readAttributes(buffer: Buffer) {
  const attributes: { id: number; data: Buffer }[] = [];
  for (let at = 0; at + WORD_BYTES <= buffer.length;) {
    const word = buffer.readUInt32BE(at);
    const size = sizeIn(word);
    if (size < WORD_BYTES || at + size > buffer.length) {
      throw new RangeError(`an attribute of ${size} bytes does not fit its frame`);
    }
    attributes.push({ id: idIn(word), data: buffer.subarray(at + WORD_BYTES, at + size) });
    at += padded(size);
  }
  return attributes;
}

export function writeAttribute(id: number, data: Buffer): Buffer {
  return writeWord(id << 24, [data]);
}

/** A string as C has it: with a NUL at its end. */
export function writeText(text: string): Buffer {
  return Buffer.from(`${text}\0`, 'utf8');
}

/** Up to the first NUL, as C reads it. */
export function readText(data: Buffer): string {
  const end = data.indexOf(0);
  return data.toString('utf8', 0, end === -1 ? data.length : end);
}

export function writeTable(table: UbusTable): Buffer {
  return Buffer.concat(Object.entries(table).map(([name, value]) => writeField(name, value)));
}

/** @throws RangeError if the bytes are no table */
export function readTable(buffer: Buffer, wanted: Wanted = true, depth = 0): UbusTable {
  const members = fieldsIn(buffer, depth).flatMap(({ name, ...field }) => {
    const part = wanted === true ? true : own(wanted, name);
    return part === undefined ? [] : [[name, readValue(field, part, depth)] as const];
  });
  // Not by assignment: `__proto__` is a name like any other.
  return Object.fromEntries(members);
}

function own(wanted: { readonly [name: string]: Wanted }, name: string): Wanted | undefined {
  return Object.hasOwn(wanted, name) ? wanted[name] : undefined;
}

function readValue(
  { type, data }: { type: number; data: Buffer },
  wanted: Wanted,
  depth: number,
): UbusValue {
  switch (type) {
    case TYPE.table:
      return readTable(data, wanted, depth + 1);
    case TYPE.array:
      return fieldsIn(data, depth + 1).map((field) => readValue(field, true, depth + 1));
    case TYPE.string:
      return readText(data);
    case TYPE.int64:
      return Number(data.readBigInt64BE());
    case TYPE.int32:
      return data.readInt32BE();
    case TYPE.int16:
      return data.readInt16BE();
    case TYPE.int8:
      return data.readInt8() !== 0;
    case TYPE.double:
      return data.readDoubleBE();
    default:
      throw new RangeError(`a value has the type ${type}, which is unknown`);
  }
}

/** Named values: the length of the name, the name, a NUL, padding, the value. */
function fieldsIn(buffer: Buffer, depth: number): { name: string; type: number; data: Buffer }[] {
  if (depth > MOST_DEPTH) throw new RangeError(`values lie more than ${MOST_DEPTH} tables deep`);
  return readAttributes(buffer).map(({ id, data }) => {
    const nameBytes = data.readUInt16BE();
    const begin = padded(2 + nameBytes + 1);
    if (begin > data.length) throw new RangeError('a name does not fit its value');
    return { type: id, name: data.toString('utf8', 2, 2 + nameBytes), data: data.subarray(begin) };
  });
}

function writeField(name: string, value: UbusValue): Buffer {
  const nameBytes = Buffer.byteLength(name);
  const head = Buffer.alloc(padded(2 + nameBytes + 1));
  head.writeUInt16BE(nameBytes);
  head.write(name, 2);
  const [type, data] = writeValue(value);
  return writeWord((EXTENDED | (type << 24)) >>> 0, [head, data]);
}

function writeValue(value: UbusValue): [type: number, data: Buffer] {
  if (typeof value === 'string') return [TYPE.string, writeText(value)];
  if (typeof value === 'boolean') return [TYPE.int8, Buffer.from([value ? 1 : 0])];
  if (typeof value === 'number') {
    const data = Buffer.alloc(4);
    data.writeInt32BE(value);
    return [TYPE.int32, data];
  }
  if (Array.isArray(value)) {
    return [TYPE.array, Buffer.concat(value.map((entry) => writeField('', entry)))];
  }
  return [TYPE.table, writeTable(value)];
}

function writeWord(bits: number, pieces: readonly Buffer[]): Buffer {
  const size = pieces.reduce((sum, piece) => sum + piece.length, WORD_BYTES);
  const buffer = Buffer.alloc(padded(size));
  buffer.writeUInt32BE(((bits >>> 0) + size) >>> 0);
  let at = WORD_BYTES;
  for (const piece of pieces) at += piece.copy(buffer, at);
  return buffer;
}

function idIn(word: number): number {
  return (word >>> 24) & 0x7f;
}

/** The length in an attribute's first word, which is in its lower 24 bits. */
export function sizeIn(word: number): number {
  return word & 0x00ffffff;
}

function padded(size: number): number {
  return (size + 3) & ~3;
}
