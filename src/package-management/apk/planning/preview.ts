import { DepotError, reasonOf } from '../../../errors.ts';
import type { PackageDatabase } from '../../database.ts';
import { failureProblem } from '../../failure.ts';
import type { PackageChange } from '../../manager.ts';
import type { Preview, PreviewedChange } from '../../preview.ts';
import { createProblem, type Problem } from '../../problem.ts';
import { compareVersions } from '../compare-versions.ts';
import type { Installation } from '../installation.ts';
import type { ApkOffer } from '../feeds/offers.ts';
import { findRefusal, purposeOf } from './plan-check.ts';
import { findShortage, freeBytesAt, measureRoom, sizeOf, type KnownSizes } from './space.ts';
import { simulate, type PlannedChange } from './simulation.ts';

/** A person waits for the answer. */
const LIMITS = { timeoutMs: 30_000, maxBytes: 8 * 1024 ** 2 };
/** Has no file with a dot in its name, which apk would take for a package file. */
const WORKING_FOLDER = '/proc';

/** What apk would do, by its own `--simulate`, judged as a job judges it. */
export async function previewChange(
  installation: Installation,
  change: PackageChange,
): Promise<Preview> {
  const { root, reader, commands, assertSound } = installation;
  const freeBytes = await freeBytesAt(root);
  try {
    await assertSound();
  } catch (error) {
    if (!(error instanceof DepotError)) throw error;
    const problem = createProblem('damaged_database', reasonOf(error));
    return { changes: [], problems: [problem], freeBytes };
  }
  const command = (wanted: PackageChange) => ({
    ...commands.simulate(wanted),
    cwd: WORKING_FOLDER,
  });
  const found = await simulate({ simulate: command }, change, LIMITS);
  const [database, records] = [await reader.read(), await reader.records()];
  const names = new Set([...change.names, ...found.changes.map(({ name }) => name)]);
  // An apk that gave no plan, or did not answer, is not asked for more.
  const offers: Known['offers'] = found.isSolved
    ? await installation.offers([...names])
    : new Map<string, ApkOffer[]>();
  const image = await installation.imagePackages();
  const refusal = findRefusal(found, { change, database, image });
  const known = { change, database, records, offers, file: change.file };
  const changes = found.isSolved ? found.changes.map((planned) => describe(planned, known)) : [];
  const problems =
    refusal === undefined
      ? behindProblems(changes, known)
      : [failureProblem(refusal.purpose, refusal)];
  if (change.verb !== 'remove') {
    const shortage = findShortage(await measureRoom(installation, changes));
    if (shortage !== undefined) {
      const problem = failureProblem(purposeOf(change), shortage.failure);
      problems.push({ ...problem, missing_bytes: shortage.missingBytes });
    }
  }
  return { changes, problems, freeBytes };
}

interface Known extends KnownSizes {
  change: PackageChange;
  database: PackageDatabase;
}

function describe(planned: PlannedChange, known: Known): PreviewedChange {
  const { name, from, to } = planned;
  const size = sizeOf(planned, known);
  if (to === undefined) {
    const reason = purgeReason(name, known);
    return { action: 'remove', name, version: from ?? '', reason, ...size };
  }
  return {
    action: from === undefined ? 'install' : 'upgrade',
    name,
    version: to,
    ...(from === undefined ? {} : { fromVersion: from }),
    reason: known.change.names.includes(name) ? 'asked' : 'dependency',
    ...size,
  };
}

function purgeReason(name: string, { change, database }: Known): PreviewedChange['reason'] {
  if (change.verb === 'remove' && change.names.includes(name)) return 'asked';
  return database.get(name)?.isAuto === true ? 'orphan' : 'replaced';
}

/** apk says nothing of what it does not upgrade, and ends well; the job would not. */
function behindProblems(
  changes: readonly PreviewedChange[],
  { change, database, offers }: Known,
): Problem[] {
  if (change.verb !== 'upgrade') return [];
  return change.names.flatMap((name) => {
    const entry = database.get(name);
    const best = offers.get(name)?.[0]?.version;
    const version = changes.find((planned) => planned.name === name)?.version ?? entry?.version;
    if (best === undefined || version === undefined) return [];
    if (compareVersions(best, version) <= 0) return [];
    if (entry?.isHeld === true) {
      return [createProblem('held', `cannot upgrade ${name}: it is held at ${version}`, name)];
    }
    const message =
      `cannot upgrade ${name}: what else is installed keeps it at ${version}, ` +
      `${best} is offered`;
    return [createProblem('dependency_conflict', message, name)];
  });
}
