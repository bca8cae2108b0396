import { createHash } from 'node:crypto';
import { lstat, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { foldersAbove } from '../inside-folder.ts';
import { piecesOf } from '../owner-file.ts';
import { END_OF_TAR, tarHeader, tarPadding, type LongNames, type TarEntry } from './tar-writer.ts';

/**
 * Files as they are now, piece by piece, and the folders above them, which neither opkg nor apk
 * makes. A link in the place of a folder is the owner's, to another disk say.
 */
export async function* tarFiles(options: {
  root: string;
  /** Paths of files and links, as the archive names them; what is else is left out. */
  paths: readonly string[];
  longNames: LongNames;
  /** Whether each file and link carries its SHA-1, as apk wants it. */
  hasChecksums: boolean;
  /** Is told how large each file is. */
  onFile?: (sizeBytes: number) => void;
}): AsyncGenerator<Buffer> {
  const { root, paths, longNames, hasChecksums, onFile } = options;
  const named = new Set(paths);
  for (const path of [...new Set([...paths.flatMap(foldersAbove), ...paths])].sort()) {
    const file = join(root, path);
    const entry = await lstat(file);
    const { mode, uid, gid, mtimeMs } = entry;
    const mtime = Math.max(0, Math.floor(mtimeMs / 1000));
    const like = { name: path, mode: mode & 0o7777, uid, gid, mtime };
    if (entry.isDirectory()) {
      yield* tarHeader({ ...like, name: `${path}/`, type: '5', sizeBytes: 0 }, longNames);
    } else if (entry.isSymbolicLink() && named.has(path)) {
      const target = await readlink(file);
      const sum = hasChecksums && { checksum: createHash('sha1').update(target).digest('hex') };
      yield* tarHeader({ ...like, type: '2', target, sizeBytes: 0, ...sum }, longNames);
    } else if (entry.isFile()) {
      const sum = hasChecksums && { checksum: await sha1Of(file) };
      yield* fileMember(file, { ...like, sizeBytes: entry.size, ...sum }, longNames);
      onFile?.(entry.size);
    }
  }
  yield END_OF_TAR;
}

async function sha1Of(file: string): Promise<string> {
  const hash = createHash('sha1');
  for await (const piece of piecesOf(file)) hash.update(piece);
  return hash.digest('hex');
}

async function* fileMember(
  file: string,
  entry: TarEntry,
  longNames: LongNames,
): AsyncGenerator<Buffer> {
  yield* tarHeader(entry, longNames);
  let left = entry.sizeBytes;
  for await (const piece of piecesOf(file)) {
    left -= piece.length;
    yield piece;
  }
  if (left !== 0) throw new Error(`${file} changed while it was read`);
  yield tarPadding(entry.sizeBytes);
}
