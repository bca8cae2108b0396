/** What an executable's headers tell of where it can run (elf(5)). */
export interface ElfHeaders {
  /** e_machine; 62 is x86_64, 183 aarch64. */
  machine: number;
  bits: 32 | 64;
  isLittleEndian: boolean;
  /** The program that loads it; undefined if it is linked statically. */
  interpreter: string | undefined;
  /** Names of the shared libraries that it asks for. */
  needed: string[];
}

const EXECUTABLE_TYPES = [2, 3];
export const SEGMENT = { load: 1, dynamic: 2, interpreter: 3 };
const DYNAMIC = { end: 0, needed: 1, strings: 5 };
/** More of either has no program; a damaged header may claim it. */
const MOST_SEGMENTS = 256;
const MOST_ENTRIES = 4096;

export interface Segment {
  type: number;
  offset: number;
  address: number;
  sizeBytes: number;
  alignment: number;
}

/** @throws Error with what is wrong, in words that go behind "cannot use PATH: " */
export function readElf(bytes: Buffer): ElfHeaders {
  if (bytes.length < 64 || bytes.readUInt32BE(0) !== 0x7f454c46) {
    throw new Error('it is no ELF file');
  }
  try {
    return readHeaders(bytes);
  } catch (error) {
    throw error instanceof RangeError
      ? new Error('it is cut off or damaged', { cause: error })
      : error;
  }
}

function readHeaders(bytes: Buffer): ElfHeaders {
  const reader = createReader(bytes);
  const { bits, isLittleEndian } = reader;
  if (!EXECUTABLE_TYPES.includes(reader.half(16))) throw new Error('it is no program');
  const segments = readSegments(reader);
  const interpreter = segments.find(({ type }) => type === SEGMENT.interpreter);
  return {
    machine: reader.half(18),
    bits,
    isLittleEndian,
    interpreter: interpreter === undefined ? undefined : reader.text(interpreter.offset),
    needed: readNeeded(reader, segments),
  };
}

interface Reader {
  bits: 32 | 64;
  isLittleEndian: boolean;
  /** Of an address or a size, in the file's class. */
  wordBytes: number;
  half: (at: number) => number;
  int: (at: number) => number;
  word: (at: number) => number;
  text: (at: number) => string;
}

export function createReader(bytes: Buffer): Reader {
  const bits = bytes[4] === 2 ? 64 : 32;
  const isLittleEndian = bytes[5] !== 2;
  const int = (at: number): number =>
    isLittleEndian ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at);
  const long = (at: number): number =>
    Number(isLittleEndian ? bytes.readBigUInt64LE(at) : bytes.readBigUInt64BE(at));
  return {
    bits,
    isLittleEndian,
    wordBytes: bits / 8,
    half: (at) => (isLittleEndian ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at)),
    int,
    word: bits === 64 ? long : int,
    text: (at) => {
      const end = bytes.indexOf(0, at);
      if (at >= bytes.length || end === -1) throw new RangeError('text without an end');
      return bytes.toString('latin1', at, end);
    },
  };
}

export function readSegments(reader: Reader): Segment[] {
  const { bits, half, int, word } = reader;
  const [table, entryBytes, count] =
    bits === 64 ? [word(32), half(54), half(56)] : [word(28), half(42), half(44)];
  return Array.from({ length: Math.min(count, MOST_SEGMENTS) }, (_, index) => {
    const at = table + index * entryBytes;
    const [offset, address, sizeBytes, alignment] =
      bits === 64
        ? [word(at + 8), word(at + 16), word(at + 32), word(at + 48)]
        : [word(at + 4), word(at + 8), word(at + 16), word(at + 28)];
    return { type: int(at), offset, address, sizeBytes, alignment };
  });
}

function readNeeded(reader: Reader, segments: readonly Segment[]): string[] {
  const { word, wordBytes, text } = reader;
  const table = segments.find(({ type }) => type === SEGMENT.dynamic);
  if (table === undefined) return [];
  const entries: { tag: number; value: number }[] = [];
  for (
    let index = 0;
    index < Math.min(table.sizeBytes / (2 * wordBytes), MOST_ENTRIES);
    index += 1
  ) {
    const at = table.offset + index * 2 * wordBytes;
    const entry = { tag: word(at), value: word(at + wordBytes) };
    if (entry.tag === DYNAMIC.end) break;
    entries.push(entry);
  }
  const strings = entries.find(({ tag }) => tag === DYNAMIC.strings);
  if (strings === undefined) return [];
  const from = offsetOf(strings.value, segments);
  return entries.filter(({ tag }) => tag === DYNAMIC.needed).map(({ value }) => text(from + value));
}

/** Where in the file an address of the loaded program comes from. */
function offsetOf(address: number, segments: readonly Segment[]): number {
  const segment = segments.find(
    (candidate) =>
      candidate.type === SEGMENT.load &&
      address >= candidate.address &&
      address < candidate.address + candidate.sizeBytes,
  );
  if (segment === undefined) throw new RangeError('address outside of the file');
  return address - segment.address + segment.offset;
}
