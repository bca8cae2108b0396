import { createHash } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { syncPath } from '../../device/durable-file.ts';
import { piecesOf, READ } from '../../device/owner-file.ts';
import { END_OF_TAR, tarHeader, tarMember, tarPadding } from '../../device/tar/tar-writer.ts';
import { DepotError } from '../../errors.ts';
import { MANIFEST, membersOf, textOf, type Manifest } from './manifest.ts';
import { sealOf } from './seal.ts';

/** Whose content it is that stands under the name of a member. */
export type SourceOf = (name: string) => string;

/** Where a set is until it is whole: a power cut leaves it there. */
export function unfinished(target: string): string {
  return `${target}.new`;
}

/**
 * Writes a set: whole under its name, or not at all. One piece of it is in memory at a time.
 * @throws DepotError internal if a file is another one than the manifest says
 */
export async function writeSet(target: string, manifest: Manifest, sourceOf: SourceOf) {
  const temporary = unfinished(target);
  await rm(temporary, { force: true });
  const file = await open(temporary, 'wx', 0o600);
  try {
    // Closed by the stream's end; synced behind that by a descriptor of its own.
    await pipeline(
      Readable.from(membersWith(manifest, sourceOf), { objectMode: false }),
      createGzip(),
      sealed,
      file.createWriteStream(),
    );
    await syncPath(temporary);
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  } finally {
    await file.close().catch(() => undefined);
  }
  await syncPath(dirname(target));
}

async function* sealed(packed: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  for await (const piece of packed) {
    hash.update(piece);
    yield piece;
  }
  yield sealOf(hash.digest());
}

async function* membersWith(manifest: Manifest, sourceOf: SourceOf): AsyncGenerator<Buffer> {
  yield* tarMember({ name: MANIFEST, mode: 0o600 }, textOf(manifest));
  for (const { name, bytes, sha256 } of membersOf(manifest)) {
    yield* tarHeader({ name, mode: 0o600, sizeBytes: bytes });
    const hash = createHash('sha256');
    let sentBytes = 0;
    for await (const piece of piecesOf(sourceOf(name))) {
      hash.update(piece);
      sentBytes += piece.length;
      if (sentBytes > bytes) throw changed(name);
      yield piece;
    }
    if (sentBytes !== bytes || hash.digest('hex') !== sha256) throw changed(name);
    yield tarPadding(bytes);
  }
  yield END_OF_TAR;
}

function changed(name: string): DepotError {
  return new DepotError('internal', `cannot write the backup: ${name} changes meanwhile`);
}

/**
 * What a file is; undefined for what is none, or is a link.
 * @param mostBytes a larger one is not read, and has no sum
 */
export async function measure(path: string, mostBytes = Infinity) {
  await using file = await open(path, READ).catch(() => undefined);
  if (file === undefined) return undefined;
  const entry = await file.stat();
  if (!entry.isFile()) return undefined;
  const mode = entry.mode & 0o777;
  if (entry.size > mostBytes) return { mode, bytes: entry.size, sha256: '' };
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const piece of file.createReadStream({ autoClose: false })) {
    hash.update(piece as Buffer);
    bytes += (piece as Buffer).length;
  }
  return { mode, bytes, sha256: hash.digest('hex') };
}
