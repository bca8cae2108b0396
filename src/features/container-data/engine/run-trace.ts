import { createHash } from 'node:crypto';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Tells apart a data root in which an engine has started containers from one in which none has:
 * before it starts one, dockerd writes to that container's folder (its record, its host name, its
 * log). Clocks do not matter, only that a file's time of change is another one.
 * @returns a short text that changes with any file of any container's folder
 */
export async function runTraceOf(dataRoot: string): Promise<string> {
  const folder = join(dataRoot, 'containers');
  const lines: string[] = [];
  for (const container of await namesIn(folder)) {
    for (const name of ['.', ...(await namesIn(join(folder, container)))]) {
      const path = join(folder, container, name);
      const entry = await lstat(path, { bigint: true }).catch(() => undefined);
      lines.push(entry ? `${container}/${name} ${entry.ino} ${entry.ctimeNs}` : path);
    }
  }
  return createHash('sha256').update(lines.join('\n')).digest('hex');
}

/** Sorted; of what is no folder, none. */
async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(() => [])).sort();
}
