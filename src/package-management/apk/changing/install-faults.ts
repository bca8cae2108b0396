import { join } from 'node:path';
import { hasEntry } from '../../../device/is-there.ts';
import type { Failure } from '../../failure.ts';
import type { PackageDatabase } from '../../database.ts';
import { readFilesOf } from '../database/installed-db.ts';
import type { Locations } from '../database/apk-locations.ts';
import { explain } from './failure.ts';
import type { PlannedChange } from '../planning/simulation.ts';

/** What apk printed. Read only after a fault: its end arrives later than the exit code. */
type Output = () => Promise<string>;

/**
 * What apk said of a package that did not come, or is marked broken; undefined if all is well. apk
 * goes on without a package that fails, and installs what depends on it. A removal never leaves
 * one: apk removes the package whatever its scripts say.
 */
export async function faultIn(
  changes: readonly PlannedChange[],
  outcome: { before: PackageDatabase | undefined; after: PackageDatabase; output: Output },
): Promise<Failure | undefined> {
  const { before, after, output } = outcome;
  const absent = changes.filter(({ name, to }) => to !== undefined && !after.has(name));
  const names = absent.map(({ name }) => name);
  const said = names.length > 0 ? explain({ output: await output(), names }) : undefined;
  if (said !== undefined) return said;
  const broken = changes.find(
    ({ name, to }) =>
      after.get(name)?.state === 'unpacked' &&
      after.get(name)?.version === to &&
      (before?.get(name)?.state !== 'unpacked' || before.get(name)?.version !== to),
  );
  if (broken === undefined) return undefined;
  const { name } = broken;
  const reason = `${name} is not fully installed`;
  return saidOf(name, output, { code: 'unknown', package: name, reason });
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
  const { files } = await readFilesOf(locations.installed, (name) => came.has(name));
  for (const { path, owner: name } of files) {
    if (path.startsWith('etc/') || (await hasEntry(join(root, path)))) continue;
    const reason = `${name} is on record, and /${path} of it is not there`;
    return saidOf(name, output, { code: 'damaged_package', package: name, reason });
  }
  return undefined;
}

/** What apk said of this package, or else what is known without that. */
async function saidOf(name: string, output: Output, known: Failure): Promise<Failure> {
  const said = explain({ output: await output(), names: [name] });
  return said?.package === name ? said : known;
}
