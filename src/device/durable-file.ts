import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Replaces a file so that after a power cut either the old or the new content is there, whole: a
 * temporary file beside it, fsync, rename, fsync of the folder (rename(2), fsync(2)).
 */
export async function replaceFile(
  file: string,
  content: string | Uint8Array,
  like: number | FileOwnership = 0o600,
): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const temporary = `${file}.${process.pid}.new`;
  // What stands under its name was left by a process of the same number, or is a link to elsewhere.
  await rm(temporary, { force: true });
  const handle = await open(temporary, 'wx', typeof like === 'number' ? like : like.mode);
  try {
    if (typeof like !== 'number') {
      await handle.chown(like.uid, like.gid);
      await handle.chmod(like.mode);
    }
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, file);
  await syncFolder(dirname(file));
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

export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
