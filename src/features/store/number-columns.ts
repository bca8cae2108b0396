/** What a list shows of each row in numbers. */
export interface NumberColumns {
  sections: Uint16Array;
  feeds: Uint16Array;
  kinds: Uint8Array;
  /** What is more than 4 GiB counts as that. */
  downloadBytes: Uint32Array;
  installedBytes: Uint32Array;
  /** Unix seconds. */
  times: Uint32Array;
}

export type NumberLists = Record<keyof NumberColumns, number[]>;

const BYTES_A_ROW = 3 * 4 + 2 * 2 + 1;
const LARGEST = 2 ** 32 - 1;

export function createNumberLists(): NumberLists {
  return { downloadBytes: [], installedBytes: [], times: [], sections: [], feeds: [], kinds: [] };
}

/**
 * All columns lie in one piece of memory: one that is large enough goes back to the system when it
 * is dropped, while small ones keep the heap of malloc from shrinking (mallopt(3),
 * M_MMAP_THRESHOLD). The rows come in another order, some of them left out.
 */
export function createNumberColumns(lists: NumberLists, order: readonly number[]): NumberColumns {
  const count = order.length;
  const memory = new ArrayBuffer(count * BYTES_A_ROW);
  let offset = 0;
  const next = (bytes: number): number => {
    const from = offset;
    offset += bytes * count;
    return from;
  };
  const fill = <Column extends Uint32Array | Uint16Array | Uint8Array>(
    column: Column,
    name: keyof NumberColumns,
  ): Column => {
    order.forEach((row, index) => (column[index] = Math.min(lists[name][row] ?? 0, LARGEST)));
    return column;
  };
  // The widest first, since each begins at a multiple of its width.
  return {
    downloadBytes: fill(new Uint32Array(memory, next(4), count), 'downloadBytes'),
    installedBytes: fill(new Uint32Array(memory, next(4), count), 'installedBytes'),
    times: fill(new Uint32Array(memory, next(4), count), 'times'),
    sections: fill(new Uint16Array(memory, next(2), count), 'sections'),
    feeds: fill(new Uint16Array(memory, next(2), count), 'feeds'),
    kinds: fill(new Uint8Array(memory, next(1), count), 'kinds'),
  };
}
