import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

import * as v from 'valibot';

import type { FeatureDocumentation } from '../../src/http/openapi/documentation.ts';

const FEATURES = join(import.meta.dirname, '../../src/features');

/** What openapi.json says of all operations, by method and path below the base. */
export async function allDocumentation(): Promise<readonly FeatureDocumentation[]> {
  const files = (await readdir(FEATURES)).map((name) => join(FEATURES, name, 'documentation.ts'));
  const modules = await Promise.all(
    files.filter(existsSync).map((file) => import(file) as Promise<Record<string, unknown>>),
  );
  return modules.flatMap((module) =>
    Object.values(module).filter(
      (value): value is FeatureDocumentation =>
        typeof value === 'object' && value !== null && 'operations' in value,
    ),
  );
}

let documentation: Promise<readonly FeatureDocumentation[]> | undefined;

/**
 * @param path from the root, without the query
 * @returns what is wrong with a good answer; undefined for one that is as documented, or of which
 *   nothing is documented
 */
export async function undocumentedIn(
  { method, path, status }: { method: string; path: string; status: number },
  body: unknown,
): Promise<string | undefined> {
  documentation ??= allDocumentation();
  const below = /(?:\/healthz|admin\/.*)$/.exec(path)?.[0] ?? path;
  const all = (await documentation).map(({ operations }) => operations);
  const name = `${method} ${below}`;
  const answers = all.find((each) => name in each)?.[name]?.answers ?? {};
  const schema = answers[status]?.schema;
  if (schema === undefined) return undefined;
  const result = v.safeParse(schema, body);
  if (result.success) return undefined;
  const issues = result.issues.map((issue) => `${v.getDotPath(issue) ?? 'it'}: ${issue.message}`);
  return `${name} ${status} is not as documented: ${issues.join('; ')}`;
}
