import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** The names of those that are being taken: a request may come ahead of the sweep. */
export const sentFiles = new Set<string>();
const NAME = /^[0-9a-f]{32}\.restore$/;

/** Removes the backups that a daemon that was killed had taken: they lie in memory. */
export async function sweepSentFiles(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    if (!NAME.test(name) || sentFiles.has(name)) continue;
    await rm(join(folder, name), { force: true }).catch(() => undefined);
  }
}
