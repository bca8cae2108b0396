import type { PackageChange } from '../../package-manager.ts';
import type { Preview, PreviewedChange } from '../../preview.ts';
import { createProblem, type Problem } from '../../problem.ts';
import { compareVersions } from '../compare-versions.ts';
import type { OpkgConfig } from '../config.ts';
import { freeBytesFor } from '../free-bytes.ts';
import type { Installation } from '../installation.ts';
import type { Search } from './candidate.ts';
import { createCatalogue, isThere, type Candidate, type Catalogue } from './catalogue.ts';
import { missingProblems } from './explanation.ts';
import { readInstalledBytes, readLists, type PackageRecord } from './records.ts';
import { replacedProblems } from './replaced.ts';
import { findShortage } from './room.ts';
import { simulate, type SimulatedCommand, type Simulation } from './simulation.ts';
import { createSpace } from './space.ts';
import { readStatusRecords } from './status-records.ts';

/**
 * What opkg would do, found out without it: its `--noaction` fetches each package whole, needs the
 * lock, and makes files.
 */
export async function previewChange(
  installation: Installation,
  { verb, names, isCircle = false }: PackageChange,
): Promise<Preview> {
  const config = await installation.readConfig();
  const freeBytes = await freeBytesFor(installation.destination, config);
  const status = await readStatusRecords(installation, config);
  if (status === undefined) return { changes: [], problems: [damagedProblem(verb)], freeBytes };
  const lists = await readLists(config);
  const reading = ({ install: 'needed', upgrade: 'whole', remove: 'none' } as const)[verb];
  const { architectures } = config;
  const attempt = (roomBytes: number): Attempt | undefined => {
    const catalogue = createCatalogue({ lists, status, architectures, names, reading });
    const before = presentIn(catalogue);
    const search: Search = {
      catalogue,
      asked: new Set(names),
      unresolved: [],
      foreignArchitectures: (name) => foreignArchitectures(lists, config, name),
    };
    const simulation = simulateSafely(search, { verb, names, isCircle }, roomBytes);
    return simulation && { before, search, simulation };
  };
  const first = attempt(freeBytes);
  if (first === undefined) return { changes: [], problems: [tooDeep(verb)], freeBytes };
  const { search, simulation } = first;
  const { infoDir, destination } = installation;
  const changesOf = ({ before, ...found }: Attempt): Promise<PreviewedChange[]> =>
    withSizes(changesBetween(before, { ...found, names }), { before, lists, infoDir });
  const changes = await changesOf(first);
  // opkg stops at the first package without room: the whole change says how much is missing.
  const isShort = simulation.problems.some(({ code }) => code === 'no_space');
  const whole = isShort ? attempt(Infinity) : undefined;
  const changesWithRoom = whole && (await changesOf(whole));
  const behind = verb === 'upgrade' ? behindProblems(search, simulation, { lists, names }) : [];
  const replaced = verb === 'install' ? replacedProblems(simulation, names) : [];
  const wanted = changesWithRoom ?? changes;
  const shortage = await findShortage({ verb, names }, wanted, { destination, freeBytes });
  return {
    changes,
    ...(changesWithRoom && { changesWithRoom }),
    problems: [...withShortage(simulation.problems, shortage), ...behind, ...replaced],
    freeBytes,
  };
}

/** What opkg would do, if it had so much room. */
interface Attempt {
  before: ReadonlyMap<string, Present>;
  search: Search;
  simulation: Simulation;
}

/** What is short for all counts for what is short for one package. */
function withShortage(problems: readonly Problem[], shortage: Problem | undefined): Problem[] {
  if (shortage === undefined) return [...problems];
  const ofPackage = problems.find(({ code }) => code === 'no_space')?.package;
  return [
    ...problems.filter(({ code }) => code !== 'no_space'),
    { ...shortage, ...(ofPackage !== undefined && { package: ofPackage }) },
  ];
}

/** @returns undefined if dependencies of a feed lead so deep that the stack has no room for them */
function simulateSafely(
  search: Search,
  command: SimulatedCommand,
  freeBytes: number,
): Simulation | undefined {
  try {
    return simulate(search, command, createSpace(freeBytes));
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function tooDeep(verb: string): Problem {
  return createProblem('unknown', `cannot ${verb} packages: their dependencies lead too deep`);
}

function damagedProblem(verb: string): Problem {
  return createProblem(
    'damaged_database',
    `cannot ${verb} packages: the status file of opkg is damaged, and there is no copy of it`,
  );
}

function foreignArchitectures(
  lists: readonly PackageRecord[],
  { architectures }: OpkgConfig,
  wanted: string,
): string[] {
  if (architectures.size === 0) return [];
  const found = lists
    .filter(({ name, architecture }) => name === wanted && !architectures.has(architecture))
    .map(({ architecture }) => architecture);
  return [...new Set(found)];
}

/** As it is now: candidates change their state. */
interface Present {
  candidate: Candidate;
  version: string;
}

function presentIn(catalogue: Catalogue): Map<string, Present> {
  const there = catalogue.candidates().filter(isThere);
  return new Map(
    there.map((candidate) => [
      candidate.record.name,
      { candidate, version: candidate.record.version },
    ]),
  );
}

function changesBetween(
  before: ReadonlyMap<string, Present>,
  { simulation, names }: { simulation: Simulation; names: readonly string[] },
): PreviewedChange[] {
  const after = presentIn(simulation.catalogue);
  const changes: PreviewedChange[] = [];
  for (const [name, { candidate, version }] of after) {
    const known = before.get(name);
    if (known?.version === version) continue;
    const isAsked = candidate.provides.some((provided) => names.includes(provided.name));
    changes.push({
      action: known === undefined ? 'install' : 'upgrade',
      name,
      version,
      ...(known === undefined ? {} : { fromVersion: known.version }),
      reason: isAsked ? 'asked' : 'dependency',
      downloadBytes: candidate.record.downloadBytes,
      diskBytes: candidate.record.installedBytes,
    });
  }
  for (const [name, { version }] of before) {
    if (after.has(name)) continue;
    const reason = simulation.removals.get(name) ?? 'orphan';
    changes.push({ action: 'remove', name, version, reason, diskBytes: 0 });
  }
  return changes;
}

/** What goes says in its own control file what it takes, or else the list of its feed. */
async function withSizes(
  changes: readonly PreviewedChange[],
  {
    before,
    lists,
    infoDir,
  }: { before: ReadonlyMap<string, Present>; lists: readonly PackageRecord[]; infoDir: string },
): Promise<PreviewedChange[]> {
  const sized: PreviewedChange[] = [];
  for (const change of changes) {
    const known = before.get(change.name);
    const listed = lists.find(
      ({ name, version }) => name === change.name && version === known?.version,
    );
    const oldBytes =
      known === undefined
        ? 0
        : ((await readInstalledBytes(infoDir, change.name)) ?? listed?.installedBytes ?? 0);
    sized.push({ ...change, diskBytes: change.diskBytes - oldBytes });
  }
  return sized;
}

/** opkg says nothing of what it does not upgrade, and ends well; the job would not. */
function behindProblems(
  search: Search,
  { catalogue, problems }: Simulation,
  { lists, names }: { lists: readonly PackageRecord[]; names: readonly string[] },
): Problem[] {
  const known = new Set(problems.map((problem) => problem.package));
  const after = presentIn(catalogue);
  return names.flatMap((name) => {
    const version = after.get(name)?.version;
    const offered = bestOffer(search, lists, name);
    const isBehind =
      version !== undefined && offered !== undefined && compareVersions(version, offered) < 0;
    if (!isBehind || known.has(name)) return [];
    const lacking = search.unresolved.filter(({ neededBy }) => neededBy.record.name === name);
    if (lacking.length > 0) return missingProblems(search, lacking, `upgrade ${name}`);
    // Another failure kept it from being reached.
    if (problems.length > 0) return [];
    const message = `cannot upgrade ${name}: opkg keeps it at ${version}, ${offered} is offered`;
    return [createProblem('unknown', message, name)];
  });
}

function bestOffer(
  { catalogue }: Search,
  lists: readonly PackageRecord[],
  name: string,
): string | undefined {
  const fitting = (catalogue.find(name)?.packages ?? []).filter(
    (candidate) => catalogue.priority(candidate) > 0,
  );
  const versions = fitting
    .map(({ record }) => record.version)
    .filter((version) =>
      lists.some((listed) => listed.name === name && listed.version === version),
    );
  return versions.sort((a, b) => compareVersions(b, a))[0];
}
