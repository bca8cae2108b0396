import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileVersion } from '../../device/file-version.ts';
import type { Log } from '../../log.ts';
import { isPackageName, type PackageName } from '../names.ts';
import { parseAppMeta, type AppMeta } from './app-meta.ts';

/** What the app meta files, `NAME.json`, say by now. Those that did not change are kept. */
export type MetaReader = () => Promise<Map<PackageName, AppMeta | undefined>>;

interface MetaFile {
  name: PackageName;
  path: string;
  /** Changes with the file. */
  version: string;
}

/** @param folders if an app has files in several, that in the first one counts */
export function createMetaReader(folders: readonly string[], log: Log): MetaReader {
  let known = new Map<PackageName, { version: string; meta: AppMeta | undefined }>();
  const readOne = async ({ name, path, version }: MetaFile): Promise<AppMeta | undefined> => {
    const before = known.get(name);
    if (before?.version === version) return before.meta;
    const meta = parseAppMeta(await readFile(path, 'utf8').catch(() => ''));
    if (meta === undefined) log.warn({ app: name }, 'meta file cannot be read');
    return meta;
  };
  return async () => {
    const files = (await Promise.all(folders.map(listFolder))).reverse().flat();
    const byName = new Map(files.map((file) => [file.name, file]));
    const entries = await Promise.all(
      [...byName.values()].map(
        async (file) => [file.name, { version: file.version, meta: await readOne(file) }] as const,
      ),
    );
    known = new Map(entries);
    return new Map(entries.map(([name, { meta }]) => [name, meta]));
  };
}

async function listFolder(folder: string): Promise<MetaFile[]> {
  const found = (await readdir(folder).catch(() => [])).sort().map(async (file) => {
    const [name, path] = [file.replace(/\.json$/, ''), join(folder, file)];
    if (name === file || !isPackageName(name)) return [];
    const version = await fileVersion(path);
    return version === undefined ? [] : [{ name, path, version }];
  });
  return (await Promise.all(found)).flat();
}
