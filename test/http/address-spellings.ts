import fc from 'fast-check';

/** An IPv6 address: eight words of 16 bits. */
export type Words = readonly number[];

const word = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff }));
const anyWords = fc.array(word, { minLength: 8, maxLength: 8 });
const mappedWords = fc.tuple(word, word).map((low) => [0, 0, 0, 0, 0, 0xffff, ...low]);

/** Some address; every second one is IPv4 that is mapped into IPv6 (RFC 4291, section 2.5.5.2). */
export const addressWords: fc.Arbitrary<Words> = fc.oneof(anyWords, mappedWords);

/**
 * An address as somebody may write it (RFC 4291, section 2.2; RFC 5952 says how they should): digits
 * of either case, zeros in front, any run of zeros as `::`, the end as IPv4, or mapped IPv4 as IPv4.
 */
export function spellingOf(words: Words): fc.Arbitrary<string> {
  const style = fc.record({
    isUpper: fc.boolean(),
    widths: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 8, maxLength: 8 }),
    run: fc.tuple(fc.nat(7), fc.integer({ min: 1, max: 8 })),
    isDotted: fc.boolean(),
    isPlain: fc.boolean(),
  });
  return style.map(({ isUpper, widths, run, isDotted, isPlain }) => {
    if (isPlain && isMapped(words)) return dotted(words);
    const groups = words.map((value, at) => value.toString(16).padStart(widths[at] ?? 1, '0'));
    if (isDotted) groups.splice(6, 2, dotted(words));
    const text = compressed(groups, run);
    return isUpper ? text.toUpperCase() : text;
  });
}

export function isMapped(words: Words): boolean {
  return words.slice(0, 6).join() === '0,0,0,0,0,65535';
}

/** The last 32 bits as IPv4. */
export function dotted(words: Words): string {
  return words
    .slice(6)
    .flatMap((value) => [value >> 8, value & 0xff])
    .join('.');
}

/** Writes `::` for a run of zeros that begins there, as long as it may be. */
function compressed(groups: readonly string[], [from, most]: readonly [number, number]): string {
  let to = from;
  while (to < groups.length && to - from < most && /^0+$/.test(groups[to] ?? '')) to += 1;
  if (to === from) return groups.join(':');
  return `${groups.slice(0, from).join(':')}::${groups.slice(to).join(':')}`;
}
