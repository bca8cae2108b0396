/**
 * Leaves of a program what a kernel and a loader look at: its segments. Symbols and the table of
 * sections, which only debuggers read, are a sixth of a published Node, and `strip` of this machine
 * knows no other's.
 * @returns the bytes as they are if it is not 64-bit little-endian, or laid out in an unusual way
 */
export function slimElf(bytes: Buffer): Buffer {
  if (bytes.toString('latin1', 0, 6) !== '\u007fELF\u0002\u0001') return bytes;
  const segments = readSegments(bytes);
  const loads = segments
    .filter(({ type }) => type === LOAD)
    .sort((one, other) => one.offset - other.offset);
  const moves = layOut(loads);
  if (moves === undefined) return bytes;
  const moved = (offset: number, size: number): number | undefined => {
    const move = moves.find(({ from, length }) => offset >= from && offset + size <= from + length);
    return move === undefined ? undefined : offset - move.from + move.to;
  };
  const table = longAt(bytes, TABLE_AT);
  const offsets = segments.map(({ offset, size }) => (size === 0 ? offset : moved(offset, size)));
  const newTable = moved(table, segments.length * SEGMENT_BYTES);
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

const LOAD = 1;
/** Places in the header of a 64-bit file (elf(5)); the last is two: count and names of sections. */
const TABLE_AT = 32;
const SECTIONS_AT = 40;
const COUNT_AT = 56;
const SECTION_COUNT_AT = 60;
const SEGMENT_BYTES = 56;

interface Segment {
  type: number;
  offset: number;
  address: number;
  size: number;
  alignment: number;
}

function readSegments(bytes: Buffer): Segment[] {
  return Array.from({ length: bytes.readUInt16LE(COUNT_AT) }, (_, index) => {
    const at = longAt(bytes, TABLE_AT) + index * SEGMENT_BYTES;
    return {
      type: bytes.readUInt32LE(at),
      offset: longAt(bytes, at + 8),
      address: longAt(bytes, at + 16),
      size: longAt(bytes, at + 32),
      alignment: longAt(bytes, at + 48),
    };
  });
}

interface Move {
  from: number;
  to: number;
  length: number;
}

/** One behind the other; a page of the file stays at the same place in a page of memory. */
function layOut(loads: readonly Segment[]): Move[] | undefined {
  const moves: Move[] = [];
  let [oldEnd, end] = [0, 0];
  for (const { offset, address, size, alignment } of loads) {
    if (alignment < 1 || offset < oldEnd) return undefined;
    const to = end + ((((address - end) % alignment) + alignment) % alignment);
    moves.push({ from: offset, to, length: size });
    oldEnd = offset + size;
    end = to + size;
  }
  const [first] = moves;
  return first?.from === 0 && first.to === 0 ? moves : undefined;
}

function longAt(bytes: Buffer, at: number): number {
  return Number(bytes.readBigUInt64LE(at));
}
