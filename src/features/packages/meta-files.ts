import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileVersion } from '../../device/file-version.ts';

/** The files `NAME.json` of a folder, by name, each with a text that changes when the file does. */
export async function listMetaFiles(folder: string): Promise<{ name: string; version: string }[]> {
  const files = await readdir(folder).catch(() => []);
  const entries = await Promise.all(
    files
      .filter((file) => file.endsWith('.json'))
      .sort()
      .map((file) => entryOf(folder, file)),
  );
  return entries.filter((entry) => entry !== undefined);
}

async function entryOf(
  folder: string,
  file: string,
): Promise<{ name: string; version: string } | undefined> {
  const version = await fileVersion(join(folder, file));
  return version === undefined ? undefined : { name: file.slice(0, -'.json'.length), version };
}
