import { createReader, readSegments, SEGMENT, type Segment } from './elf.ts';

/**
 * Leaves of a program what a kernel and a loader look at: its segments. Symbols and the table of
 * sections, which only debuggers read, are a sixth of a published Node, and `strip` of this machine
 * knows no other's.
 * @returns the bytes as they are if it is not 64-bit little-endian, or laid out in an unusual way
 */
export function slimElf(bytes: Buffer): Buffer {
  if (bytes.toString('latin1', 0, 6) !== '\u007fELF\u0002\u0001') return bytes;
  const reader = createReader(bytes);
  const segments = readSegments(reader);
  const loads = segments
    .filter(({ type }) => type === SEGMENT.load)
    .sort((one, other) => one.offset - other.offset);
  const moves = layOut(loads);
  if (moves === undefined) return bytes;
  const moved = (offset: number, size: number): number | undefined => {
    const move = moves.find(({ from, length }) => offset >= from && offset + size <= from + length);
    return move === undefined ? undefined : offset - move.from + move.to;
  };
  const offsets = segments.map(({ offset, sizeBytes }) =>
    sizeBytes === 0 ? offset : moved(offset, sizeBytes),
  );
  const newTable = moved(reader.word(TABLE_AT), segments.length * SEGMENT_BYTES);
  if (newTable === undefined || offsets.includes(undefined)) return bytes;

  const slim = Buffer.alloc(Math.max(...moves.map(({ to, length }) => to + length)));
  for (const { from, to, length } of moves) bytes.copy(slim, to, from, from + length);
  slim.writeBigUInt64LE(BigInt(newTable), TABLE_AT);
  slim.writeBigUInt64LE(0n, SECTIONS_AT);
  slim.writeUInt32LE(0, SECTION_COUNT_AT);
  for (const [index, place] of offsets.entries()) {
    slim.writeBigUInt64LE(BigInt(place ?? 0), newTable + index * SEGMENT_BYTES + 8);
  }
  return slim;
}

/** Places in the header of a 64-bit file (elf(5)); the last is two: count and names of sections. */
const TABLE_AT = 32;
const SECTIONS_AT = 40;
const SECTION_COUNT_AT = 60;
const SEGMENT_BYTES = 56;

interface Move {
  from: number;
  to: number;
  length: number;
}

/** One behind the other; a page of the file stays at the same place in a page of memory. */
function layOut(loads: readonly Segment[]): Move[] | undefined {
  const moves: Move[] = [];
  let [oldEnd, end] = [0, 0];
  for (const { offset, address, sizeBytes, alignment } of loads) {
    if (alignment < 1 || offset < oldEnd) return undefined;
    const to = end + ((((address - end) % alignment) + alignment) % alignment);
    moves.push({ from: offset, to, length: sizeBytes });
    oldEnd = offset + sizeBytes;
    end = to + sizeBytes;
  }
  const [first] = moves;
  return first?.from === 0 && first.to === 0 ? moves : undefined;
}
