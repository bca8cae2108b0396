import { createByteReader, type ByteReader } from '../byte-reader.ts';

/** One member of a tar archive. Its content is read, or skipped, before the next member comes. */
export interface TarMember {
  name: string;
  type: string;
  /** Where a link points. */
  target: string;
  sizeBytes: number;
  content: AsyncIterable<Buffer>;
}

const BLOCK_BYTES = 512;
/** A long name is a member of its own before the one it belongs to. */
const MOST_NAME_BYTES = 8192;
/** Of those ahead of one member: no writer has more than four, and a small file has millions. */
const MOST_NAMES = 8;

/**
 * Reads a tar archive piece by piece, whatever its size: ustar, GNU's long names, and pax headers
 * with `path` and `linkpath` (tar(5)). What else pax headers can say of names and sizes is refused:
 * two readers could take it for two things. The source is closed when the reading ends, also before
 * the last member or with an error.
 * @throws an Error if it is no tar archive, not a plain one, or ends in the middle
 */
export async function* readTar(source: AsyncIterable<Buffer>): AsyncGenerator<TarMember> {
  const reader = createByteReader(source);
  let long: LongNames = {};
  let names = 0;
  try {
    for (
      let header = await reader.read(BLOCK_BYTES);
      header !== undefined && !isEnd(header);
      header = await reader.read(BLOCK_BYTES)
    ) {
      checkSum(header);
      const sizeBytes = numberIn(header, 124, 12);
      const type = header.toString('latin1', 156, 157);
      if (isNameOfNext(type)) {
        names += 1;
        if (names > MOST_NAMES) throw notPlain();
        long = { ...long, ...longNamesIn(type, await contentOfName(reader, sizeBytes)) };
        continue;
      }
      const rest = { left: isWithoutContent(type) ? 0 : sizeBytes };
      const padding = paddingOf(rest.left);
      const content = contentOf(reader, rest);
      yield {
        name: long.name ?? nameIn(header),
        type,
        target: long.target ?? textIn(header, 157, 100),
        sizeBytes: rest.left,
        content,
      };
      long = {};
      names = 0;
      // A reader that stopped at a member may still wait for a piece.
      await content.return(undefined);
      await reader.skip(rest.left + padding);
    }
  } finally {
    await reader.close();
  }
}

interface LongNames {
  name?: string;
  target?: string;
}

function isNameOfNext(type: string): boolean {
  return type === 'L' || type === 'K' || type === 'x' || type === 'g';
}

/** GNU's `L` and `K` hold the text itself, a pax header records (pax(1)). */
function longNamesIn(type: string, content: Buffer): LongNames {
  if (type === 'L' || type === 'K') {
    const text = content.toString('utf8').replace(/\0.*$/s, '');
    return type === 'L' ? { name: text } : { target: text };
  }
  const names: LongNames = {};
  for (const [key, value] of paxRecords(content)) {
    const isName = key === 'path' || key === 'linkpath';
    if (key === 'size' || key.startsWith('GNU.sparse.') || (isName && type === 'g')) {
      throw notPlain();
    }
    if (isName) names[key === 'path' ? 'name' : 'target'] = value;
  }
  return names;
}

/** `LENGTH KEY=VALUE`, by the lengths: a value may have line breaks and look like a record. */
function* paxRecords(content: Buffer): Generator<[key: string, value: string]> {
  for (let at = 0; at < content.length;) {
    const [, digits = ''] = /^(\d{1,7}) /.exec(content.toString('latin1', at, at + 8)) ?? [];
    const end = at + Number(digits);
    const record = content.toString('utf8', at + digits.length + 1, end);
    const sign = record.indexOf('=');
    if (digits === '' || end > content.length || sign < 1 || !record.endsWith('\n')) {
      throw notPlain();
    }
    yield [record.slice(0, sign), record.slice(sign + 1, -1)];
    at = end;
  }
}

function notPlain(): Error {
  return new Error('it is no plain tar archive');
}

function isEnd(header: Buffer): boolean {
  return header.every((byte) => byte === 0);
}

/** Links, devices and folders have no content, whatever their size says. */
function isWithoutContent(type: string): boolean {
  return /[1-6]/.test(type);
}

async function* contentOf(reader: ByteReader, rest: { left: number }): AsyncGenerator<Buffer> {
  while (rest.left > 0) {
    const piece = await reader.readSome(rest.left);
    rest.left -= piece.length;
    yield piece;
  }
}

async function contentOfName(reader: ByteReader, sizeBytes: number): Promise<Buffer> {
  if (sizeBytes > MOST_NAME_BYTES) throw new Error(`a name of ${sizeBytes} bytes is too long`);
  const content = (await reader.read(sizeBytes)) ?? Buffer.alloc(0);
  await reader.skip(paddingOf(sizeBytes));
  return content;
}

function paddingOf(sizeBytes: number): number {
  return (BLOCK_BYTES - (sizeBytes % BLOCK_BYTES)) % BLOCK_BYTES;
}

function nameIn(header: Buffer): string {
  const prefix = header.toString('latin1', 257, 263) === 'ustar\0' ? textIn(header, 345, 155) : '';
  const name = textIn(header, 0, 100);
  return prefix === '' ? name : `${prefix}/${name}`;
}

function textIn(header: Buffer, from: number, length: number): string {
  return header.toString('utf8', from, from + length).replace(/\0.*$/s, '');
}

function numberIn(header: Buffer, from: number, length: number): number {
  const digits = header
    .toString('latin1', from, from + length)
    .replace(/[\0 ]+$/, '')
    .trim();
  if (!/^[0-7]{0,12}$/.test(digits)) {
    throw new Error('it is no tar archive, or a member is too large');
  }
  return Number.parseInt(digits || '0', 8);
}

function checkSum(header: Buffer): void {
  const blank = 8 * 32;
  const sum = header.reduce(
    (total, byte, index) => (index >= 148 && index < 156 ? total : total + byte),
    blank,
  );
  if (sum !== numberIn(header, 148, 8)) throw new Error('it is no tar archive');
}
