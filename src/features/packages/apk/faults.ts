import type { Failure } from '../failure.ts';
import type { PackageDatabase } from '../package-database.ts';
import { explain } from './failure.ts';
import type { PlannedChange } from './planning/simulation.ts';

/**
 * What apk said of a package that came and is marked broken; undefined if none is. A removal never
 * leaves one: apk removes the package whatever its scripts say.
 */
export function brokenBy(
  changes: readonly PlannedChange[],
  {
    before,
    after,
    output,
  }: { before: PackageDatabase | undefined; after: PackageDatabase; output: string },
): Failure | undefined {
  const broken = changes.find(
    ({ name, to }) =>
      after.get(name)?.state === 'unpacked' &&
      after.get(name)?.version === to &&
      (before?.get(name)?.state !== 'unpacked' || before.get(name)?.version !== to),
  );
  if (broken === undefined) return undefined;
  const { name } = broken;
  const said = explain({ output, names: [name] });
  return said?.package === name
    ? said
    : { code: 'unknown', package: name, reason: `${name} is not fully installed` };
}
