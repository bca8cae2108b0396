import { createHash } from 'node:crypto';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';

/** What stands below a folder: kind, mode, time and content of each entry. */
export async function treeSnapshot(folder: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const { mode, mtimeMs } = await lstat(path);
    const content = entry.isDirectory() ? '' : await contentOf(path, entry.isSymbolicLink());
    found[path] = `${mode} ${mtimeMs} ${content}`;
  }
  return found;
}

async function contentOf(path: string, isLink: boolean): Promise<string> {
  if (isLink) return readlink(path);
  return createHash('sha1')
    .update(await readFile(path))
    .digest('hex');
}
