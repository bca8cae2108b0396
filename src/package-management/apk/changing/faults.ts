import { join } from 'node:path';
import { hasEntry } from '../../../device/is-there.ts';
import type { Failure } from '../../failure.ts';
import type { PackageDatabase } from '../../database.ts';
import { readInstalled } from '../database/installed-db.ts';
import type { Locations } from '../database/locations.ts';
import { explain } from './failure.ts';
import type { PlannedChange } from '../planning/simulation.ts';

interface Outcome {
  before: PackageDatabase | undefined;
  after: PackageDatabase;
  output: Output;
}

/** Asked for where something is wrong alone: the end of it comes later than the exit code. */
type Output = () => Promise<string>;

/**
 * What apk said of a package that did not come, or is marked broken; undefined if all is well. A
 * removal never leaves one: apk removes the package whatever its scripts say.
 */
export async function faultIn(
  changes: readonly PlannedChange[],
  outcome: Outcome,
): Promise<Failure | undefined> {
  return (await absentIn(changes, outcome)) ?? brokenIn(changes, outcome);
}

/**
 * What apk put on record without its files: it ends with a number of errors then, which says not of
 * what. Files below /etc may be their owner's to remove, or a script's that has run once.
 */
export async function missingIn(
  changes: readonly PlannedChange[],
  { root, locations, output }: { root: string; locations: Locations; output: Output },
): Promise<Failure | undefined> {
  const came = new Set(changes.flatMap(({ name, to }) => (to === undefined ? [] : [name])));
  const files: { path: string; name: string }[] = [];
  await readInstalled(locations.installed, {
    filesOf: (name) => came.has(name),
    onFile: ({ path }, name) => {
      if (!path.startsWith('etc/')) files.push({ path, name });
    },
  });
  for (const { path, name } of files) {
    if (await hasEntry(join(root, path))) continue;
    const reason = `${name} is on record, and /${path} of it is not there`;
    const said = explain({ output: await output(), names: [name] });
    return said?.package === name ? said : { code: 'damaged_package', package: name, reason };
  }
  return undefined;
}

/** apk goes on without a package that fails, and installs what depends on it. */
async function absentIn(
  changes: readonly PlannedChange[],
  { after, output }: Outcome,
): Promise<Failure | undefined> {
  const absent = changes.filter(({ name, to }) => to !== undefined && !after.has(name));
  const names = absent.map(({ name }) => name);
  return names.length === 0 ? undefined : explain({ output: await output(), names });
}

async function brokenIn(
  changes: readonly PlannedChange[],
  { before, after, output }: Outcome,
): Promise<Failure | undefined> {
  const broken = changes.find(
    ({ name, to }) =>
      after.get(name)?.state === 'unpacked' &&
      after.get(name)?.version === to &&
      (before?.get(name)?.state !== 'unpacked' || before.get(name)?.version !== to),
  );
  if (broken === undefined) return undefined;
  const { name } = broken;
  const said = explain({ output: await output(), names: [name] });
  return said?.package === name
    ? said
    : { code: 'unknown', package: name, reason: `${name} is not fully installed` };
}
