import { stat } from 'node:fs/promises';

/**
 * A text that changes when the file is written, replaced or touched: inode, size, and both times,
 * since a file put back from an archive has an old modification time but a new change time.
 * undefined where there is no such file.
 */
export async function fileVersion(path: string): Promise<string | undefined> {
  const entry = await stat(path, { bigint: true }).catch(() => undefined);
  return entry?.isFile() === true
    ? `${entry.ino}-${entry.size}-${entry.mtimeNs}-${entry.ctimeNs}`
    : undefined;
}
