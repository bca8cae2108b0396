import { halfInstalled, isInstalled, isPresent, type PackageDatabase } from '../database.ts';
import type { PackageManager } from '../manager.ts';
import type { Shortfall } from './explained.ts';
import type { Chosen } from '../transaction-slots.ts';
import type { ChangeWork } from './transaction.ts';
import { isOnRecord } from '../choice.ts';

/** Whether a change came about, by the database: what each plan of packages is judged by. */

export function judgeInstall(
  after: PackageDatabase,
  { names }: Chosen,
  { before }: { before: PackageDatabase },
): Shortfall | undefined {
  const absent = names.find((name) => !isInstalled(after, name));
  if (absent === undefined) return notConfigured(before, after);
  const change = { verb: 'install', names: [absent] } as const;
  return { reason: `${absent} is not installed`, names: [absent], change };
}

/** Any package is looked at: one is configured also if one that it needs could not be. */
export function notConfigured(
  before: PackageDatabase,
  after: PackageDatabase,
): Shortfall | undefined {
  const [half] = halfInstalled(before, after);
  return half === undefined ? undefined : notWhole(half.name);
}

function notWhole(name: string): Shortfall {
  return { reason: `${name} is not fully installed`, names: [name] };
}

export function judgeUpgrade({ compareVersions, isSolver }: PackageManager): ChangeWork['judge'] {
  return (after, { names, expected = {} }, { before }) => {
    // What came as a dependency may be needed no more.
    const hasGone = (name: string): boolean =>
      before.get(name)?.isAuto === true && !isPresent(after.get(name));
    const unfinished = names.find((name) => !isInstalled(after, name) && !hasGone(name));
    if (unfinished !== undefined) return notWhole(unfinished);
    const half = notConfigured(before, after);
    if (half !== undefined) return half;
    const behind = Object.entries(expected).find(
      ([name, version]) =>
        !hasGone(name) && compareVersions(after.get(name)?.version ?? '', version) < 0,
    );
    if (behind === undefined) return undefined;
    const [name, version] = behind;
    const entry = after.get(name);
    const reason = `${name} stays at ${entry?.version ?? 'none'}, ${version} is offered`;
    if (entry?.isHeld === true) {
      return { code: 'held', package: name, reason: `it is held: ${reason}` };
    }
    if (!isSolver) return { reason, names: [name] };
    const why = `what else is installed keeps it back: ${reason}`;
    const likely = { code: 'dependency_conflict', package: name, reason: why } as const;
    return { reason, names: [name], likely };
  };
}

export function judgeRemoval(after: PackageDatabase, { names }: Chosen): Shortfall | undefined {
  const left = names.filter((name) => isOnRecord(after, name));
  if (left.length === 0) return undefined;
  return { reason: `${left.join(', ')} is still there`, names: left };
}
