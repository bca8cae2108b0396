import { constants } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { orElse } from '../errors.ts';

/**
 * After a power cut the old or the new content is there, whole: a temporary file beside it, fsync,
 * rename, fsync of the folder (rename(2), fsync(2)).
 */
export async function replaceFile(
  file: string,
  content: string | Uint8Array | AsyncIterable<Uint8Array>,
  like: number | FileOwnership = 0o600,
): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const temporary = `${file}.${process.pid}.new`;
  // What stands under its name was left by a process of the same number, or is a link to elsewhere.
  await rm(temporary, { force: true });
  const handle = await open(temporary, 'wx', typeof like === 'number' ? like : like.mode);
  try {
    try {
      if (typeof like !== 'number') {
        await handle.chown(like.uid, like.gid);
        await handle.chmod(like.mode);
      }
      await writeFile(handle, content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    // On a full disk the temporary file holds the room that others need.
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
  await syncPath(dirname(file));
}

/**
 * Writes over the beginning of a file in its place, which takes no new blocks and no new name if it
 * is long enough; what stands behind it stays. A power cut may leave it torn.
 */
export async function overwriteFile(file: string, content: string | Uint8Array): Promise<void> {
  const { O_RDWR, O_CREAT, O_NOFOLLOW } = constants;
  const bytes = Buffer.from(content);
  await using handle = await open(file, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600);
  const isNew = (await handle.stat()).size === 0;
  for (let at = 0; at < bytes.length;) {
    at += (await handle.write(bytes, at, bytes.length - at, at)).bytesWritten;
  }
  await handle.datasync();
  if (isNew) await syncPath(dirname(file));
}

/** Removes what killed processes left beside a file; nobody else may be replacing it then. */
export async function removeUnfinished(file: string): Promise<void> {
  const isUnfinished = (name: string): boolean =>
    name.startsWith(`${basename(file)}.`) &&
    /^\d+\.new$/.test(name.slice(basename(file).length + 1));
  for (const name of await readdir(dirname(file)).catch(() => [])) {
    if (isUnfinished(name)) await rm(join(dirname(file), name), { force: true });
  }
}

/** Whose a file is, and who may do what with it. */
export interface FileOwnership {
  mode: number;
  uid: number;
  gid: number;
}

/** Replaces a file that is there by one of the same owner and mode. */
export async function rewriteFile(file: string, content: string | Uint8Array): Promise<void> {
  const { mode, uid, gid } = await stat(file);
  await replaceFile(file, content, { mode: mode & 0o7777, uid, gid });
}

/** Waits until a file or folder is on the disk (fsync(2)). */
export async function syncPath(path: string): Promise<void> {
  await using handle = await open(path, 'r');
  await handle.sync();
}

/** The JSON in a file; undefined if it is not there, or damaged: then nothing is known of it. */
export async function readJson(file: string): Promise<unknown> {
  return parseJson(await readFile(file, 'utf8').catch(() => ''));
}

/** JSON for a schema to judge; undefined for what is none. */
export function parseJson(text: string): unknown {
  return orElse((): unknown => JSON.parse(text), undefined);
}
