import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { parseJson } from '../../device/durable-file.ts';
import { fileVersion } from '../../device/file-version.ts';
import type { Log } from '../../log.ts';
import { isPackageName, type PackageName } from '../names.ts';

const text = v.string();
const texts = v.array(v.string());

/**
 * What the interface knows of an app's meta file; every other key passes through. A key of another
 * type is left out.
 */
export const metaFile = v.looseObject({
  title: optional(text),
  entry: optional(text),
  author: optional(text),
  website: optional(text),
  tutorial: optional(text),
  description: optional(text),
  description_en: optional(text),
  version: optional(text),
  release: optional(v.pipe(v.number(), v.integer())),
  arch: optional(texts),
  tags: optional(texts),
  depends: optional(texts),
  flags: optional(texts),
  uci: optional(text),
  autoconf: optional(texts),
});

function optional<const Schema extends v.GenericSchema>(
  schema: Schema,
): v.SchemaWithFallback<v.OptionalSchema<Schema, undefined>, undefined> {
  return v.fallback(v.optional(schema), undefined);
}

export type AppMeta = v.InferOutput<typeof metaFile>;

/** @returns undefined if the text is no JSON object */
export function parseAppMeta(json: string): AppMeta | undefined {
  const content = parseJson(json);
  // An array passes for an object without keys.
  const result = v.safeParse(metaFile, content);
  return result.success && !Array.isArray(content) ? result.output : undefined;
}

/** One entry of the list of installed apps, as the interface shows it. */
export type AppItem = AppMeta & { name: string; time: number };

/** @param meta undefined for a meta file that cannot be read: the app is listed as broken */
export function appItem(name: string, meta: AppMeta | undefined, installedAt: number): AppItem {
  if (meta === undefined) {
    const broken = { version: '0.0.0', tags: ['broken'], broken: true };
    return { name, title: name, ...broken, time: installedAt };
  }
  return { ...meta, name, time: installedAt };
}

/** What the app meta files, `NAME.json`, say by now. Those that did not change are kept. */
export type MetaReader = () => Promise<Map<PackageName, AppMeta | undefined>>;

type MetaFile = Awaited<ReturnType<typeof listFolder>>[number];

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

/** @returns `version`: changes with the file */
async function listFolder(folder: string) {
  const found = (await readdir(folder).catch(() => [])).sort().map(async (file) => {
    const [name, path] = [file.replace(/\.json$/, ''), join(folder, file)];
    if (name === file || !isPackageName(name)) return [];
    const version = await fileVersion(path);
    return version === undefined ? [] : [{ name, path, version }];
  });
  return (await Promise.all(found)).flat();
}
