import * as v from 'valibot';
import { parseJson } from '../../device/durable-file.ts';

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

/**
 * @param meta undefined for a meta file that cannot be read: the app is listed all the same, marked
 *   as broken
 */
export function appItem(name: string, meta: AppMeta | undefined, installedAt: number): AppItem {
  if (meta === undefined) {
    return {
      name,
      title: name,
      version: '0.0.0',
      tags: ['broken'],
      broken: true,
      time: installedAt,
    };
  }
  return { ...meta, name, time: installedAt };
}
