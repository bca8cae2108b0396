import type { Failure } from '../../failure.ts';
import type { PackageDatabase } from '../../database.ts';
import { explain } from './failure.ts';
import type { PlannedChange } from '../planning/simulation.ts';

interface Outcome {
  before: PackageDatabase | undefined;
  after: PackageDatabase;
  output: string;
}

/**
 * What apk said of a package that did not come, or is marked broken; undefined if all is well. A
 * removal never leaves one: apk removes the package whatever its scripts say.
 */
export function faultIn(changes: readonly PlannedChange[], outcome: Outcome): Failure | undefined {
  return absentIn(changes, outcome) ?? brokenIn(changes, outcome);
}

/** apk goes on without a package that fails, and installs what depends on it. */
function absentIn(
  changes: readonly PlannedChange[],
  { after, output }: Outcome,
): Failure | undefined {
  const absent = changes.filter(({ name, to }) => to !== undefined && !after.has(name));
  const names = absent.map(({ name }) => name);
  return names.length === 0 ? undefined : explain({ output, names });
}

function brokenIn(
  changes: readonly PlannedChange[],
  { before, after, output }: Outcome,
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
