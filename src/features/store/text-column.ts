/**
 * Texts of many rows in one piece of memory outside V8's heap, each ended by a NUL: ten thousand
 * strings would have ten thousand headers, and be walked over by each garbage collection.
 */
export interface TextColumn {
  bytes: Buffer;
  /** Where each row begins, and where the last one ends. */
  starts: Uint32Array;
}

/** @param capacity in bytes, for a start; it doubles when it is full */
export function createTextColumnBuilder(capacity: number) {
  let bytes = Buffer.allocUnsafeSlow(capacity);
  let size = 0;
  const starts: number[] = [0];
  return {
    /** @returns the number of the row */
    add: (text: string): number => {
      // UTF-8 takes three bytes at most for each UTF-16 code unit.
      const needed = size + 3 * text.length + 1;
      if (needed > bytes.length) {
        const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * bytes.length));
        bytes.copy(larger, 0, 0, size);
        bytes = larger;
      }
      size += bytes.write(text, size);
      bytes[size] = 0;
      size += 1;
      return starts.push(size) - 2;
    },
    /** Bytes so far. */
    size: () => size,
    /** A row's bytes without the NUL at the end; a view, not a copy. */
    row: (row: number) => bytes.subarray(starts[row], (starts[row + 1] ?? 1) - 1),
    /** The rows in another order, some of them left out. */
    finish: (order: readonly number[]) => reorder(bytes, starts, order),
  };
}

function reorder(bytes: Buffer, starts: readonly number[], order: readonly number[]): TextColumn {
  const [from, to] = [(row: number) => starts[row] ?? 0, (row: number) => starts[row + 1] ?? 0];
  const total = order.reduce((sum, row) => sum + to(row) - from(row), 0);
  // One piece of memory: see number-columns.ts.
  const memory = new ArrayBuffer(4 * (order.length + 1) + total);
  const column = {
    bytes: Buffer.from(memory, memory.byteLength - total),
    starts: new Uint32Array(memory, 0, order.length + 1),
  };
  let size = 0;
  order.forEach((row, index) => {
    size += bytes.copy(column.bytes, size, from(row), to(row));
    column.starts[index + 1] = size;
  });
  return column;
}

/** A row's bytes without the NUL at the end; a view, not a copy. */
export function rowOf({ bytes, starts }: TextColumn, row: number): Buffer {
  return bytes.subarray(starts[row], (starts[row + 1] ?? 1) - 1);
}
