import * as v from 'valibot';
import { isPresent, type PackageDatabase } from '../../package-management/database.ts';
import type { Affected } from './documentation.ts';

/** What OSV says of one package in one advisory (https://ossf.github.io/osv-schema/). */
const advisory = v.object({
  id: v.pipe(v.string(), v.maxLength(200)),
  name: v.pipe(v.string(), v.maxLength(200)),
  ranges: v.array(
    v.object({
      introduced: v.optional(v.string()),
      fixed: v.optional(v.string()),
      last_affected: v.optional(v.string()),
    }),
  ),
  versions: v.array(v.string()),
});
/** Advisories as JSON. */
export const advisories = v.pipe(v.string(), v.parseJson(), v.array(advisory));

/** Which of them concern what is installed, by the package manager's own order of versions. */
export function affectedBy(
  list: v.InferOutput<typeof advisories>,
  database: PackageDatabase,
  compare: (one: string, other: string) => number,
): Affected[] {
  return list.flatMap(({ id, name, ranges, versions }) => {
    const entry = database.get(name);
    if (!isPresent(entry)) return [];
    const { version } = entry;
    const order = (bound: string): number => compare(comparable(version, bound), bound);
    const range = ranges.find(
      ({ introduced = '0', fixed, last_affected: last }) =>
        (introduced === '0' || order(introduced) >= 0) &&
        (fixed === undefined || order(fixed) < 0) &&
        (last === undefined || order(last) <= 0),
    );
    const isNamed = versions.some((named) => named === comparable(version, named));
    if (range === undefined && !isNamed) return [];
    const { fixed } = range ?? {};
    return [{ id, package: name, version, ...(fixed === undefined ? {} : { fixed }) }];
  });
}

const REVISION = /-r?\d+$/;

/** Advisories often name what the makers released, without the builder's count behind it. */
function comparable(version: string, bound: string): string {
  return REVISION.test(bound) ? version : version.replace(REVISION, '');
}
