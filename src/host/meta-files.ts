import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** The files `NAME.json` of a folder, by name, each with a text that changes when the file does. */
export async function listMetaFiles(folder: string): Promise<{ name: string; version: string }[]> {
  const files = await readdir(folder).catch(() => []);
  const entries = await Promise.all(files.filter((file) => file.endsWith('.json')).sort().map((file) => entryOf(folder, file)));
  return entries.filter((entry) => entry !== undefined);
}

async function entryOf(folder: string, file: string): Promise<{ name: string; version: string } | undefined> {
  const entry = await stat(join(folder, file), { bigint: true }).catch(() => undefined);
  if (entry === undefined) return undefined;
  return { name: file.slice(0, -'.json'.length), version: `${entry.ino}-${entry.size}-${entry.mtimeNs}-${entry.ctimeNs}` };
}
