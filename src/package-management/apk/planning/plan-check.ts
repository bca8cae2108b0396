import type { DepotError } from '../../../errors.ts';
import { failureError, type Failure } from '../../failure.ts';
import {
  imageToKeep,
  isPresent,
  type InstalledPackage,
  type PackageDatabase,
} from '../../database.ts';
import type { PackageChange } from '../../manager.ts';
import { explain } from '../changing/failure.ts';
import type { PlannedChange, Simulation } from './simulation.ts';

/**
 * Refuses a plan that does anything to packages that nobody asked for: apk solves anew from world
 * and brings the system to that, whatever its command was, so that a damaged world, or another
 * package that provides the same, has it remove what the device needs.
 * @throws DepotError command_failed, not_found, unavailable that names the packages
 */
export function checkPlan(plan: Simulation, wanted: Wanted): void {
  const purpose = purposeOf(wanted);
  if (!plan.isSolved) throw refusal(plan, wanted, purpose);
  const downgrades = plan.changes.filter(
    ({ action, name }) => action === 'Downgrading' && name !== wanted.own,
  );
  if (downgrades.length > 0) {
    throw failureError(purpose, {
      code: 'dependency_conflict',
      reason: `that would downgrade ${namesOf(downgrades)}, which nobody asked for`,
    });
  }
  checkPurges(plan, wanted, purpose);
  if (wanted.change.verb === 'remove') checkRemoval(plan, wanted);
}

interface Wanted {
  change: PackageChange;
  database: PackageDatabase;
  /** What the firmware's image brought. */
  image: ReadonlySet<string>;
  /** The package in the change's file, if it has one. */
  own?: string;
}

function purposeOf({ change: { verb, names }, own }: Wanted): string {
  return `${verb} ${own ?? names.join(', ')}`;
}

function namesOf(changes: readonly { name: string }[]): string {
  return changes.map(({ name }) => name).join(', ');
}

function checkPurges({ changes }: Simulation, wanted: Wanted, purpose: string): void {
  const { change, database } = wanted;
  const asked = new Set(change.verb === 'remove' ? change.names : []);
  const purged = changes.filter(({ action, name }) => action === 'Purging' && !asked.has(name));
  if (purged.length === 0) return;
  if (change.verb === 'remove') checkImage(purged, wanted, purpose);
  const outdated = outdatedBy(changes, wanted);
  const unasked = purged.filter(({ name }) => {
    const entry = database.get(name);
    return entry?.isAuto !== true || entry.isEssential || !outdated.has(name);
  });
  if (unasked.length === 0) return;
  const isSwap =
    change.verb === 'install' &&
    unasked.length === 1 &&
    changes.some(({ action }) => action === 'Installing');
  throw failureError(
    purpose,
    isSwap
      ? {
          code: 'dependency_conflict',
          reason: `it conflicts with ${namesOf(unasked)}, which would be removed`,
          remedy: `Remove ${namesOf(unasked)} first if that is meant.`,
        }
      : {
          code: 'not_allowed',
          reason:
            `that would remove ${namesOf(unasked)}, which nobody asked for; ` +
            'apk removes what /etc/apk/world does not lead to',
          remedy: 'Install what would be removed, so that it is asked for, then try again.',
        },
  );
}

/** World may have lost the line that asks for it: then only what needs it keeps it there. */
function checkImage(
  purged: readonly PlannedChange[],
  { change, database, image }: Wanted,
  purpose: string,
): void {
  const kept = imageToKeep(image, change.names);
  const lost = purged.filter(({ name }) => kept.has(name));
  if (lost.length === 0) return;
  const needless = lost.filter(({ name }) => {
    const users = lost.flatMap((other) => database.get(other.name) ?? []);
    return !users.some((user) => isDependencyOf(database.get(name), user));
  });
  throw failureError(purpose, {
    code: 'not_allowed',
    reason:
      `that would remove ${namesOf(lost)}, which came with the firmware; ` +
      '/etc/apk/world asks for it no longer',
    remedy: `Install ${namesOf(needless)}, so that it is asked for, then try again.`,
  });
}

/**
 * What may go without being named: dependencies, and theirs, of packages that change or go, as far
 * as no package that stays as it is needs them.
 */
function outdatedBy(changes: readonly PlannedChange[], { change, database }: Wanted): Set<string> {
  const changed = new Set(
    changes.filter(({ action }) => action !== 'Installing').map(({ name }) => name),
  );
  const reached = new Set<string>();
  const queue = changes
    .filter(({ action, name }) => action !== 'Purging' || isAsked(change, name))
    .map(({ name }) => name);
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    for (const next of [...dependenciesOf(database, name), ...companionsOf(database, name)]) {
      if (reached.has(next)) continue;
      reached.add(next);
      queue.push(next);
    }
  }
  const staying = [...database.values()].filter(({ name }) => !changed.has(name));
  return new Set(
    [...reached].filter(
      (name) => !staying.some((entry) => isDependencyOf(database.get(name), entry)),
    ),
  );
}

function isAsked({ verb, names }: PackageChange, name: string): boolean {
  return verb === 'remove' && names.includes(name);
}

/** Names of what came since this one was there, among others. */
function companionsOf(database: PackageDatabase, name: string): string[] {
  const known = [name, ...(database.get(name)?.provides ?? [])];
  return [...database.values()]
    .filter(({ comesWith = [] }) => comesWith.some((other) => known.includes(other)))
    .map((entry) => entry.name);
}

function dependenciesOf(database: PackageDatabase, name: string): string[] {
  const wanted = new Set(database.get(name)?.depends.flat());
  return [...database.values()]
    .filter(
      (entry) => wanted.has(entry.name) || entry.provides.some((provided) => wanted.has(provided)),
    )
    .map((entry) => entry.name);
}

function isDependencyOf(entry: InstalledPackage | undefined, other: InstalledPackage): boolean {
  return (
    entry !== undefined &&
    [entry.name, ...entry.provides].some((name) =>
      other.depends.some((alternatives) => alternatives.includes(name)),
    )
  );
}

/** What is asked to go goes: else apk drops it from world, and may upgrade it on the way. */
function checkRemoval({ changes, kept }: Simulation, { change, database }: Wanted): void {
  const essential = change.names.filter((name) => database.get(name)?.isEssential).join(', ');
  if (essential !== '') {
    throw failureError(`remove ${essential}`, {
      code: 'essential',
      package: essential,
      reason: `the device cannot do without ${essential}`,
    });
  }
  const purged = new Set(
    changes.filter(({ action }) => action === 'Purging').map(({ name }) => name),
  );
  const staying = change.names.filter((name) => !purged.has(name) && isPresent(database.get(name)));
  const [first] = staying;
  if (first === undefined) return;
  const users = kept.find(({ name }) => name === first)?.neededBy ?? [];
  if (users.includes(first)) {
    // World itself, which apk calls by the name of what it asks for.
    throw failureError(`remove ${first}`, {
      code: 'needed_by',
      package: first,
      reason: `/etc/apk/world asks for ${first} more than once`,
      remedy: `Leave one line of ${first} in /etc/apk/world, then try again.`,
    });
  }
  throw failureError(`remove ${first}`, {
    code: 'needed_by',
    package: first,
    reason: users.length === 0 ? `${first} would stay` : `${users.join(', ')} needs ${first}`,
  });
}

function refusal(
  { exitCode, fault, stderr, missing, lacksIndex }: Simulation,
  { change, own, database }: Wanted,
  purpose: string,
): DepotError {
  const damaged = damagedSetting(fault, database);
  if (damaged !== undefined) return failureError(purpose, damaged);
  const withHint = (reason: string): string =>
    lacksIndex ? `${reason}; the lists of a feed are not there` : reason;
  const known = explain({ output: stderr, names: own === undefined ? change.names : [own] });
  const foreign = missing.find(
    ({ name, requiredBy }) =>
      requiredBy.startsWith('world[') && !change.names.includes(name) && name !== own,
  );
  if (foreign !== undefined) {
    return failureError(purpose, {
      code: 'dependency_missing',
      package: foreign.name,
      reason: withHint(`/etc/apk/world asks for ${foreign.name}, which no feed has`),
      remedy: `Remove ${foreign.name} first${lacksIndex ? ', or update the package lists' : ''}.`,
    });
  }
  const why =
    fault === '' ? `apk ends with exit code ${exitCode ?? 'none'}` : `apk says "${fault}"`;
  const found: Failure = known ?? { code: 'unknown', reason: why };
  return failureError(purpose, { ...found, reason: withHint(found.reason) });
}

/** What apk says of packages, and is a fault of a file that it reads. */
function damagedSetting(fault: string, database: PackageDatabase): Failure | undefined {
  for (const [, name = '', version, architecture = ''] of fault.matchAll(FOREIGN)) {
    if (database.get(name)?.version !== version) continue;
    return {
      code: 'wrong_architecture',
      package: name,
      reason:
        `/etc/apk/arch lacks ${architecture}, the architecture of ${name}, ` + 'which is installed',
      remedy: `Write ${architecture} into /etc/apk/arch on a line of its own, then try again.`,
    };
  }
  if (!fault.includes('masked in: --no-network')) return undefined;
  return {
    code: 'download_failed',
    reason: 'the list of a feed below /var/cache/apk is damaged',
    remedy: 'Update the package lists, then try again.',
  };
}

const FOREIGN = /(?<= |^)(\S+?)-(\d\S*): error: uninstallable arch: (\S+)/g;
