import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileVersion } from '../../device/file-version.ts';

/** The app meta files, `NAME.json`: what is there, and what one holds. */
export interface MetaFiles {
  /** `version` changes with the file. */
  list: () => Promise<{ name: string; version: string }[]>;
  /** Empty if there is none, or none that can be read. */
  read: (name: string) => Promise<string>;
}

/** @param folders if an app has files in several, that in the first one counts */
export function createMetaFiles(folders: readonly string[]): MetaFiles {
  return {
    list: async () => {
      const lists = await Promise.all(folders.map(listFolder));
      const byName = new Map(
        lists.reverse().flatMap((entries) => entries.map((entry) => [entry.name, entry])),
      );
      return [...byName.values()];
    },
    read: async (name) => {
      for (const folder of folders) {
        const text = await readFile(join(folder, `${name}.json`), 'utf8').catch(() => undefined);
        if (text !== undefined) return text;
      }
      return '';
    },
  };
}

async function listFolder(folder: string): Promise<{ name: string; version: string }[]> {
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
