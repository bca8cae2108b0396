import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';

import { controlText, createIpk, type Ipk, type PackageSource } from './ipk.ts';

export interface FeedPackage extends PackageSource {
  /** What the index says wrongly: a checksum that does not fit, or a file that is not there. */
  listing?: 'wrong-checksum' | 'no-file';
  /** What the index says the package takes on the disk; by default what the package itself says. */
  installedSizeBytes?: number;
  /** What the feed has in place of the package's file; the checksum of the index is that one's. */
  damage?: (bytes: Buffer) => Buffer;
}

/**
 * The files of a feed by name: the index, packed and plain, what stands for its signature, and the
 * packages.
 */
export function createFeedFiles(packages: readonly FeedPackage[]): Map<string, Buffer> {
  const ipks = packages.map((source) => ({ source, ipk: publishedIpk(source) }));
  const index = Buffer.from(ipks.map(({ source, ipk }) => `${stanzaOf(source, ipk)}\n`).join(''));
  const compressed = gzipSync(index);
  const files = new Map([
    ['Packages', index],
    ['Packages.gz', compressed],
    ['Packages.sig', signatureOf(compressed)],
  ]);
  for (const { source, ipk } of ipks) {
    if (source.listing !== 'no-file') files.set(ipk.fileName, ipk.bytes);
  }
  return files;
}

function publishedIpk(source: FeedPackage): Ipk {
  const ipk = createIpk(source);
  if (source.damage === undefined) return ipk;
  const bytes = source.damage(ipk.bytes);
  return { ...ipk, bytes, sha256: createHash('sha256').update(bytes).digest('hex') };
}

/** The device's own opkg-key takes the checksum of the packed index for its signature. */
export function signatureOf(compressedIndex: Buffer): Buffer {
  return Buffer.from(`${createHash('sha256').update(compressedIndex).digest('hex')}\n`);
}

function stanzaOf(source: FeedPackage, ipk: Ipk): string {
  return controlText(source, {
    ...(source.installedSizeBytes !== undefined && {
      'Installed-Size': String(source.installedSizeBytes),
    }),
    Filename: ipk.fileName,
    Size: String(ipk.bytes.length),
    SHA256sum: source.listing === 'wrong-checksum' ? '0'.repeat(64) : ipk.sha256,
  });
}
