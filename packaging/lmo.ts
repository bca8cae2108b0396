import type { PoMessage } from './po-file.ts';

interface Entry {
  key: number;
  /** How many forms the message has. */
  forms: number;
  value: Buffer;
}

/**
 * LuCI's catalogue (docs/reference/luci.md): the texts, each filled up to four bytes; an index of
 * four big-endian numbers a text, sorted by its key, for LuCI searches it by halves; and where the
 * index begins.
 */
export function createLmo(messages: readonly PoMessage[]): Buffer {
  const entries = messages.flatMap(entriesOf);
  let offset = 0;
  const index = entries.map(({ key, forms, value }) => {
    const row = { key, bytes: toNumbers([key, forms, offset, value.length]) };
    offset += padded(value).length;
    return row;
  });
  index.sort((left, right) => left.key - right.key);
  const rows = index.map(({ bytes }) => bytes);
  return Buffer.concat([
    ...entries.map(({ value }) => padded(value)),
    ...rows,
    toNumbers([offset]),
  ]);
}

function entriesOf({ context, id, pluralId, translations }: PoMessage): Entry[] {
  if (id === '') return headerEntry(translations[0] ?? '');
  const prefix = context === undefined ? '' : `${context}\u0001`;
  return translations.flatMap((translation, form) => {
    const suffix = pluralId === undefined ? '' : `\u0002${form}`;
    const [key, value] = [Buffer.from(`${prefix}${id}${suffix}`), Buffer.from(translation)];
    // An untranslated text, or one that reads the same, needs no entry.
    if (value.length === 0 || value.equals(key)) return [];
    return [{ key: sfhHash(key), forms: translations.length, value }];
  });
}

/** Key 0 holds the rule by which a number chooses its form. */
function headerEntry(header: string): Entry[] {
  const rule = /(?:^|\\n)Plural-Forms: (.*?)(?=\\n)/i.exec(header)?.[1];
  return rule === undefined ? [] : [{ key: 0, forms: 0, value: Buffer.from(rule) }];
}

/**
 * Paul Hsieh's SuperFastHash (http://www.azillionmonkeys.com/qed/hash.html), with the length as its
 * beginning; of a byte that is left at the end LuCI takes the sign along.
 */
export function sfhHash(data: Buffer): number {
  if (data.length === 0) return 0;
  const remainder = data.length & 3;
  const whole = data.length - remainder;
  let hash = data.length;
  for (let at = 0; at < whole; at += 4) {
    hash = (hash + data.readUInt16LE(at)) | 0;
    hash = (hash << 16) ^ ((data.readUInt16LE(at + 2) << 11) ^ hash);
    hash = (hash + (hash >>> 11)) | 0;
  }
  return avalanche(addRemainder(hash, data.subarray(whole)));
}

function addRemainder(start: number, rest: Buffer): number {
  if (rest.length === 0) return start;
  if (rest.length === 1) {
    const hash = (start + rest.readInt8(0)) | 0;
    const mixed = hash ^ (hash << 10);
    return (mixed + (mixed >>> 1)) | 0;
  }
  let hash = (start + rest.readUInt16LE(0)) | 0;
  if (rest.length === 2) {
    hash ^= hash << 11;
    return (hash + (hash >>> 17)) | 0;
  }
  hash ^= hash << 16;
  hash ^= rest.readInt8(2) << 18;
  return (hash + (hash >>> 11)) | 0;
}

function avalanche(start: number): number {
  let hash = start ^ (start << 3);
  hash = (hash + (hash >>> 5)) | 0;
  hash ^= hash << 4;
  hash = (hash + (hash >>> 17)) | 0;
  hash ^= hash << 25;
  hash = (hash + (hash >>> 6)) | 0;
  return hash >>> 0;
}

function toNumbers(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, index) => bytes.writeUInt32BE(value, index * 4));
  return bytes;
}

function padded(value: Buffer): Buffer {
  return Buffer.concat([value, Buffer.alloc((4 - (value.length % 4)) % 4)]);
}
