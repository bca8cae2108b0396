/** Random choices that a seed repeats. */
export interface Random {
  /** A whole number from 0 up to `limit`, without it. */
  readonly below: (limit: number) => number;
  readonly pick: <Item>(items: readonly [Item, ...Item[]]) => Item;
}

/** mulberry32: 32 bits of state, good enough to spread tries. */
export function createRandom(seed: number): Random {
  // Neighbouring seeds are to differ in their first number already.
  let state = Math.imul(seed, 0x9e3779b1);
  const below = (limit: number): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * limit);
  };
  return { below, pick: (items) => items[below(items.length)] ?? items[0] };
}
