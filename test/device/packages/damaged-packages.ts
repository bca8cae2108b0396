import { createCipheriv } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';

import type { FeedPackage } from '../feed-index.ts';
import { simplePackage } from './package-parts.ts';

/** Packages whose files are damaged, each with the checksum that its feed's list says. */
export function damagedPackages(): FeedPackage[] {
  return [
    damaged('garbage', () => noise(5000)),
    damaged('a-page', () => Buffer.from('<html>login</html>\n')),
    damaged('half-file', (bytes) => bytes.subarray(0, bytes.length / 2)),
    damaged('no-bytes', () => Buffer.alloc(0)),
    damaged('bad-data', (bytes) => withMember(bytes, 'data.tar.gz', noise(3000))),
  ];
}

const CONTENT_BYTES = 40_000;

function damaged(name: string, damage: (bytes: Buffer) => Buffer): FeedPackage {
  return simplePackage(name, {
    files: { [`/usr/share/${name}/noise`]: { content: noise(CONTENT_BYTES) } },
    damage,
  });
}

/** The same each time, and nothing that compresses. */
function noise(sizeBytes: number): Buffer {
  return createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16, 1)).update(
    Buffer.alloc(sizeBytes),
  );
}

const BLOCK_BYTES = 512;

/** Puts other content into a member of the outer archive, a compressed tar (ustar). */
function withMember(bytes: Buffer, name: string, content: Buffer): Buffer {
  const archive = gunzipSync(bytes);
  const pieces: Buffer[] = [];
  for (let at = 0; archive[at] !== undefined && archive[at] !== 0;) {
    const header = Buffer.from(archive.subarray(at, at + BLOCK_BYTES));
    const size = Number.parseInt(header.toString('latin1', 124, 135), 8);
    const body = archive.subarray(at + BLOCK_BYTES, at + BLOCK_BYTES + size);
    const isWanted = header.toString('latin1', 0, 100).replace(/\0.*$/s, '').endsWith(name);
    pieces.push(...(isWanted ? memberOf(header, content) : memberOf(header, body)));
    at += BLOCK_BYTES + Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES;
  }
  return gzipSync(Buffer.concat([...pieces, Buffer.alloc(2 * BLOCK_BYTES)]));
}

function memberOf(header: Buffer, body: Buffer): Buffer[] {
  header.write(`${body.length.toString(8).padStart(11, '0')}\0`, 124, 'latin1');
  header.fill(' ', 148, 156);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  const rest = (BLOCK_BYTES - (body.length % BLOCK_BYTES)) % BLOCK_BYTES;
  return [header, body, Buffer.alloc(rest)];
}
