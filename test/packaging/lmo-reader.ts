/**
 * Looks texts up as LuCI's pages do (cbi.js): the key is the text, white space at its ends left
 * out, with its context before it and its plural form behind it.
 */
export interface Catalogue {
  translate: (text: string, context?: string) => string | undefined;
  /** @param form which plural form */
  translateForm: (text: string, form: number, context?: string) => string | undefined;
  /** The rule under which a number has a form. */
  pluralRule: string | undefined;
}

/** By halves, as LuCI's lmo.c does: an index that is not in order finds nothing. */
export function readLmo(file: Buffer): Catalogue {
  const indexAt = file.readUInt32BE(file.length - 4);
  const count = (file.length - 4 - indexAt) / 16;
  const find = (key: number): string | undefined => {
    let [low, high] = [0, count - 1];
    while (low <= high) {
      const middle = (low + high) >> 1;
      const row = file.subarray(indexAt + middle * 16);
      const found = row.readUInt32BE(0);
      if (found === key) {
        const offset = row.readUInt32BE(8);
        return file.toString('utf8', offset, offset + row.readUInt32BE(12));
      }
      if (found > key) high = middle - 1;
      else low = middle + 1;
    }
    return undefined;
  };
  const keyOf = (text: string, context?: string): string =>
    `${context === undefined ? '' : `${context.trim()}\u0001`}${text.trim()}`;
  return {
    translate: (text, context) => find(hash(keyOf(text, context))),
    translateForm: (text, form, context) => find(hash(`${keyOf(text, context)}\u0002${form}`)),
    pluralRule: find(0),
  };
}

/** In 64-bit arithmetic, so that it shares no shortcut with what it checks. */
function hash(text: string): number {
  const bytes = Buffer.from(text);
  const mask = 0xffffffffn;
  const u16 = (at: number): bigint => BigInt(bytes.readUInt16LE(at));
  const i8 = (at: number): bigint => BigInt(bytes.readInt8(at));
  let value = BigInt(bytes.length);
  const add = (more: bigint): void => void (value = (value + more) & mask);
  const mix = (more: bigint): void => void (value = (value ^ more) & mask);
  let at = 0;
  for (; at + 4 <= bytes.length; at += 4) {
    add(u16(at));
    value = ((value << 16n) ^ (u16(at + 2) << 11n) ^ value) & mask;
    add(value >> 11n);
  }
  const rest = bytes.length - at;
  if (rest >= 2) add(u16(at));
  if (rest === 3) {
    mix(value << 16n);
    mix(i8(at + 2) << 18n);
    add(value >> 11n);
  } else if (rest === 2) {
    mix(value << 11n);
    add(value >> 17n);
  } else if (rest === 1) {
    add(i8(at));
    mix(value << 10n);
    add(value >> 1n);
  }
  for (const [left, right] of [
    [3n, 5n],
    [4n, 17n],
    [25n, 6n],
  ] as const) {
    mix(value << left);
    add(value >> right);
  }
  return Number(value);
}
