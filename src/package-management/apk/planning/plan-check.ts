import { reasonOf } from '../../../errors.ts';
import type { StepContext } from '../../../jobs/plan.ts';
import { failureError, type Failure } from '../../failure.ts';
import { imageToKeep, isPresent, type PackageDatabase } from '../../database.ts';
import { isNeeded, needs } from '../../dependencies.ts';
import type { PackageChange, Repair } from '../../manager.ts';
import { explain } from '../changing/failure.ts';
import type { Installation } from '../installation.ts';
import { simulate, type PlannedChange, type Simulation } from './simulation.ts';

/**
 * Refuses a plan that does anything to packages that nobody asked for: apk solves anew from world
 * and brings the system to that, whatever its command was, so that a damaged world, or another
 * package that provides the same, has it remove what the device needs.
 * @throws DepotError command_failed, not_found, unavailable that names the packages
 */
export function checkPlan(plan: Simulation, wanted: Wanted): void {
  const refusal = findRefusal(plan, wanted);
  if (refusal !== undefined) throw failureError(refusal.purpose, refusal);
}

interface Wanted {
  change: PackageChange;
  database: PackageDatabase;
  /** Packages that the firmware's image brought. */
  image: ReadonlySet<string>;
}

/** @returns why a plan is refused, with what cannot be done: `remove demo` */
export function findRefusal(
  plan: Simulation,
  wanted: Wanted,
): (Failure & { purpose: string }) | undefined {
  const { change } = wanted;
  const failure = plan.isSolved
    ? (findDowngrade(plan, change) ?? findPurge(plan, wanted))
    : whyUnsolved(plan, wanted);
  if (failure !== undefined) return { purpose: purposeOf(change), ...failure };
  const staying = change.verb === 'remove' ? findStaying(plan, wanted) : undefined;
  return staying && { purpose: `remove ${staying.package}`, ...staying };
}

/** A change in the product's words, for messages: `install demo`. */
export function purposeOf({ verb, names, file }: PackageChange): string {
  return `${verb} ${file?.name ?? names.join(', ')}`;
}

function namesOf(changes: readonly { name: string }[]): string {
  return changes.map(({ name }) => name).join(', ');
}

function findDowngrade({ changes }: Simulation, { file }: PackageChange): Failure | undefined {
  const downgrades = changes.filter(
    ({ action, name }) => action === 'Downgrading' && name !== file?.name,
  );
  const [first] = downgrades;
  if (first === undefined) return undefined;
  const reason = `that would downgrade ${namesOf(downgrades)}, which nobody asked for`;
  return { code: 'dependency_conflict', package: first.name, reason };
}

function findPurge({ changes }: Simulation, wanted: Wanted): Failure | undefined {
  const { change, database } = wanted;
  const asked = change.verb === 'remove' ? change.names : [];
  const purged = changes.filter(
    ({ action, name }) => action === 'Purging' && !asked.includes(name),
  );
  if (purged.length === 0) return undefined;
  const ofImage = change.verb === 'remove' ? findOfImage(purged, wanted) : undefined;
  if (ofImage !== undefined) return ofImage;
  const known = changes.filter(({ action }) => action !== 'Installing');
  const changed = new Set(known.map(({ name }) => name));
  const going = purged.map(({ name }) => name);
  const staying = changes.map(({ name }) => name).filter((name) => !going.includes(name));
  const cameWith = cameWithThose(database, staying);
  const unasked = purged.filter(({ name }) => {
    const entry = database.get(name);
    const mayGo = entry?.isAuto === true && !entry.isEssential && cameWith.has(name);
    return !mayGo || isNeeded(database, entry, changed);
  });
  const [asking] = change.names;
  if (unasked.length === 0) return undefined;
  const isSwap =
    change.verb === 'install' &&
    unasked.length === 1 &&
    changes.some(({ action }) => action === 'Installing');
  return isSwap
    ? {
        code: 'dependency_conflict',
        ...(asking !== undefined && { package: asking }),
        reason: `it conflicts with ${namesOf(unasked)}, which would be removed`,
        remedy: `Remove ${namesOf(unasked)} first if that is meant.`,
      }
    : {
        code: 'not_allowed',
        reason:
          `that would remove ${namesOf(unasked)}, which nobody asked for; ` +
          'apk removes what /etc/apk/world does not lead to',
        remedy: 'Install what would be removed, so that it is asked for, then try again.',
      };
}

/** World may have lost the line that asks for it: then only what needs it keeps it there. */
function findOfImage(
  purged: readonly PlannedChange[],
  { change, database, image }: Wanted,
): Failure | undefined {
  const kept = imageToKeep(image, change.names);
  const lost = purged.flatMap(({ name }) => (kept.has(name) ? (database.get(name) ?? []) : []));
  if (lost.length === 0) return undefined;
  const needless = lost.filter((entry) => !lost.some((user) => needs(user, entry)));
  return {
    code: 'not_allowed',
    reason:
      `that would remove ${namesOf(lost)}, which came with the firmware; ` +
      '/etc/apk/world asks for it no longer',
    remedy: `Install ${namesOf(needless)}, so that it is asked for, then try again.`,
  };
}

/** The packages with all their dependencies, and what apk adds by itself once those are there. */
function cameWithThose(database: PackageDatabase, names: readonly string[]): Set<string> {
  const found = new Set(names);
  for (const name of found) {
    const entry = database.get(name);
    if (entry === undefined) continue;
    const known = [name, ...entry.provides];
    for (const other of database.values()) {
      const isCompanion = other.comesWith?.some((each) => known.includes(each)) === true;
      if (isCompanion || needs(entry, other)) found.add(other.name);
    }
  }
  return found;
}

/** Packages that are asked to go and stay: apk drops them from world, and may upgrade them. */
function findStaying(
  { changes, kept }: Simulation,
  { change, database }: Wanted,
): (Failure & { package: string }) | undefined {
  const essential = change.names.filter((name) => database.get(name)?.isEssential).join(', ');
  if (essential !== '') {
    const reason = `the device cannot do without ${essential}`;
    return { code: 'essential', package: essential, reason };
  }
  const purging = changes.filter(({ action }) => action === 'Purging');
  const purged = new Set(purging.map(({ name }) => name));
  const first = change.names.find((name) => !purged.has(name) && isPresent(database.get(name)));
  if (first === undefined) return undefined;
  const users = kept.find(({ name }) => name === first)?.neededBy ?? [];
  if (users.includes(first)) {
    // World itself, which apk calls by the name of what it asks for.
    return {
      code: 'needed_by',
      package: first,
      reason: `/etc/apk/world asks for ${first} more than once`,
      remedy: `Leave one line of ${first} in /etc/apk/world, then try again.`,
    };
  }
  const reason = users.length === 0 ? `${first} would stay` : `${users.join(', ')} needs ${first}`;
  return { code: 'needed_by', package: first, reason };
}

function whyUnsolved(
  { exitCode, fault, stderr, missing, lacksIndex }: Simulation,
  { change, database }: Wanted,
): Failure {
  const damaged = damagedSetting(fault, database);
  if (damaged !== undefined) return damaged;
  const withHint = (reason: string): string =>
    lacksIndex ? `${reason}; the lists of a feed are not there` : reason;
  const names = change.file === undefined ? change.names : [change.file.name];
  const foreign = missing.find(
    ({ name, requiredBy }) => requiredBy.startsWith('world[') && !names.includes(name),
  );
  if (foreign !== undefined) {
    return {
      code: 'dependency_missing',
      package: foreign.name,
      reason: withHint(`/etc/apk/world asks for ${foreign.name}, which no feed has`),
      remedy: `Remove ${foreign.name} first${lacksIndex ? ', or update the package lists' : ''}.`,
    };
  }
  const why =
    fault === '' ? `apk ends with exit code ${exitCode ?? 'none'}` : `apk says "${fault}"`;
  const found: Failure = explain({ output: stderr, names }) ?? { code: 'unknown', reason: why };
  // Without an exit code apk did not answer in time: nothing is known of the package.
  const [asked] = found.code === 'unknown' && exitCode !== undefined ? names : [];
  return {
    ...(asked !== undefined && { package: asked }),
    ...found,
    reason: withHint(found.reason),
  };
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

/**
 * What of a repair apk can be trusted with: its commands solve anew from world, too, so each has a
 * plan that must do nothing else.
 */
export async function checkRepair(
  { commands, reader, imagePackages }: Installation,
  { note }: StepContext,
  { came, half }: Repair,
): Promise<Repair> {
  const [database, image] = [await reader.read(), await imagePackages()];
  const isSafe = async (verb: 'remove' | 'upgrade', names: readonly string[]): Promise<boolean> => {
    if (names.length === 0) return true;
    const change = { verb, names };
    const simulated =
      verb === 'remove' ? commands : { simulate: () => commands.reinstall(names, '--simulate') };
    try {
      checkPlan(await simulate(simulated, change), { change, database, image });
      return true;
    } catch (error) {
      await note(reasonOf(error));
      return false;
    }
  };
  return {
    came: (await isSafe('remove', came)) ? came : [],
    half: (await isSafe('upgrade', half)) ? half : [],
  };
}
