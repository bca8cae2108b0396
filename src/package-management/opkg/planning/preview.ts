import type { PackageChange } from '../../manager.ts';
import type { Preview, PreviewedChange } from '../../preview.ts';
import { appOf } from '../../names.ts';
import { ADVICE, createProblem, type Problem } from '../../problem.ts';
import { compareVersions } from '../compare-versions.ts';
import type { OpkgConfig } from '../opkg-config.ts';
import { readControl } from '../database/info-folder.ts';
import { readIpkControl } from '../package-file/ipk-file.ts';
import type { Installation } from '../installation.ts';
import { createPlanBudget } from './budget.ts';
import type { Search } from './candidate.ts';
import {
  createKnownPackages,
  isThere,
  STEPS_OF_A_GLANCE,
  type Candidate,
  type KnownPackages,
} from './known-packages.ts';
import { missingProblems } from './obstacles.ts';
import { readLists, withFile, type PackedLists } from './packed-lists.ts';
import { createRelationsReader } from './relations.ts';
import { bytesIn, readStatusRecords } from './package-records.ts';
import { simulate, type Simulation } from './simulation.ts';
import { createSpace, findShortage } from './space.ts';

/**
 * What opkg would do, found without it: `--noaction` fetches each package, locks, and makes files.
 * @throws DepotError with the code `plan_too_large` if that takes more than a plan may
 */
export async function previewChange(
  installation: Installation,
  { verb, names, file, isCircle = false }: PackageChange,
): Promise<Preview> {
  const config = await installation.readConfig();
  const freeBytes = await installation.freeBytes();
  const status = await readStatusRecords(installation, config);
  if (status === undefined) return { changes: [], problems: [damagedProblem(verb)], freeBytes };
  const purpose = `${verb} ${names.length > 3 ? `${names.length} packages` : names.join(', ')}`;
  const budget = createPlanBudget(purpose);
  const offered = await readLists(config, { purpose, budget });
  const lists = file === undefined ? offered : withFile(offered, await readIpkControl(file.path));
  const relationsOf = createRelationsReader(budget);
  const reading = ({ install: 'needed', upgrade: 'whole', remove: 'none' } as const)[verb];
  const { architectures } = config;
  const attempt = (roomBytes: number): Attempt => {
    const sources = { lists, status, architectures, names, reading, relationsOf, budget };
    const known = createKnownPackages(sources);
    const before = presentIn(known);
    const search: Search = {
      known,
      asked: new Set(names),
      unresolved: [],
      foreignArchitectures: (name) => foreignArchitectures(lists, config, name),
    };
    const space = createSpace(roomBytes);
    return { before, search, simulation: simulate(search, { verb, names, isCircle }, space) };
  };
  const first = attempt(freeBytes);
  const { search, simulation } = first;
  const { infoDir, destination } = installation;
  const changesOf = ({ before, ...found }: Attempt): Promise<PreviewedChange[]> =>
    withSizes(changesBetween(before, { ...found, names }), { before, lists, infoDir });
  const changes = await changesOf(first);
  // opkg stops at the first package without room: the whole change says how much is missing.
  const isShort = simulation.problems.some(({ code }) => code === 'no_space');
  const whole = isShort ? attempt(Infinity) : undefined;
  const changesWithRoom = whole && (await changesOf(whole));
  const isNewer = verb === 'upgrade' || file !== undefined;
  const behind = isNewer ? behindProblems(search, simulation, { verb, names }) : [];
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
  before: Present;
  search: Search;
  simulation: Simulation;
}

/** Problems with a shortage for all in place of that for one package. */
function withShortage(problems: readonly Problem[], shortage: Problem | undefined): Problem[] {
  if (shortage === undefined) return [...problems];
  const ofPackage = problems.find(({ code }) => code === 'no_space')?.package;
  return [
    ...problems.filter(({ code }) => code !== 'no_space'),
    { ...shortage, ...(ofPackage !== undefined && { package: ofPackage }) },
  ];
}

function damagedProblem(verb: string): Problem {
  return createProblem(
    'damaged_database',
    `cannot ${verb} packages: the status file of opkg is damaged, and there is no copy of it`,
  );
}

function foreignArchitectures(lists: PackedLists, { architectures }: OpkgConfig, wanted: string) {
  const found = new Set<string>();
  if (architectures.size === 0) return [];
  lists.find(
    (name) => name === wanted,
    ({ architecture }) => {
      if (!architectures.has(architecture)) found.add(architecture);
    },
  );
  return [...found];
}

type Present = ReadonlyMap<string, Candidate>;

/** What is present now: candidates change their state. */
function presentIn(known: KnownPackages): Present {
  const there = known.candidates().filter(isThere);
  return new Map(there.map((candidate) => [candidate.record.name, candidate]));
}

function changesBetween(
  before: Present,
  { simulation, names }: { simulation: Simulation; names: readonly string[] },
): PreviewedChange[] {
  const after = presentIn(simulation.known);
  const asked = new Set(names);
  const changes: PreviewedChange[] = [];
  for (const [name, { record, provides }] of after) {
    const fromVersion = before.get(name)?.record.version;
    if (fromVersion === record.version) continue;
    changes.push({
      action: fromVersion === undefined ? 'install' : 'upgrade',
      name,
      version: record.version,
      ...(fromVersion !== undefined && { fromVersion }),
      reason: provides.some((provided) => asked.has(provided.name)) ? 'asked' : 'dependency',
      downloadBytes: record.downloadBytes,
      diskBytes: record.installedBytes,
    });
  }
  for (const [name, { record }] of before) {
    if (after.has(name)) continue;
    const reason = simulation.removals.get(name) ?? 'orphan';
    changes.push({ action: 'remove', name, version: record.version, reason, diskBytes: 0 });
  }
  return changes;
}

/** Changes with sizes: a removed package's control file says its size, or its feed's list. */
async function withSizes(
  changes: readonly PreviewedChange[],
  { before, lists, infoDir }: { before: Present; lists: PackedLists; infoDir: string },
): Promise<PreviewedChange[]> {
  const oldBytes = new Map<string, number>();
  const unsaid = new Set<string>();
  for (const { name } of changes.filter((change) => before.has(change.name))) {
    const bytes = (await readControl(infoDir, name)).get('Installed-Size');
    if (bytes === undefined) unsaid.add(name);
    else oldBytes.set(name, bytesIn(bytes));
  }
  if (unsaid.size > 0) {
    lists.find(
      (name) => unsaid.has(name),
      ({ name, version, installedBytes }) => {
        if (version !== before.get(name)?.record.version) return;
        oldBytes.set(name, installedBytes);
        unsaid.delete(name);
      },
    );
  }
  return changes.map((change) => ({
    ...change,
    diskBytes: change.diskBytes - (oldBytes.get(change.name) ?? 0),
  }));
}

/** opkg says nothing of what it leaves at another version, and ends well; the job would not. */
function behindProblems(
  search: Search,
  { known, problems }: Simulation,
  { verb, names }: Pick<PackageChange, 'verb' | 'names'>,
): Problem[] {
  const explained = new Set(problems.map((problem) => problem.package));
  const after = presentIn(known);
  return names.flatMap((name) => {
    const version = after.get(name)?.record.version;
    const offered = bestOffer(search, name);
    if (version === undefined || offered === undefined || explained.has(name)) return [];
    const order = compareVersions(version, offered);
    if (order > 0 && verb === 'install') return [olderFileProblem(name, version)];
    if (order >= 0) return [];
    known.budget.spend(search.unresolved.length * STEPS_OF_A_GLANCE);
    const lacking = search.unresolved.filter(({ neededBy }) => neededBy.record.name === name);
    if (lacking.length > 0) return missingProblems(search, lacking, `${verb} ${name}`);
    // Another failure kept the package from being reached.
    if (problems.length > 0) return [];
    const message = `cannot upgrade ${name}: opkg keeps it at ${version}, ${offered} is offered`;
    return [createProblem('unknown', message, name)];
  });
}

/** Why a package file is refused that is older than what is installed. */
function olderFileProblem(name: string, installed: string): Problem {
  const message =
    `cannot install ${name}: ${installed} is installed, and opkg puts no older version in its ` +
    'place';
  return { ...createProblem('not_allowed', message, name), remedy: ADVICE.removeNewer };
}

function bestOffer({ known }: Search, name: string): string | undefined {
  const fitting = (known.find(name)?.packages ?? []).filter(
    (candidate) => candidate.isListed && known.priority(candidate) > 0,
  );
  const versions = fitting.map(({ record }) => record.version);
  return versions.sort((a, b) => compareVersions(b, a))[0];
}

/**
 * opkg installs a package that both conflicts with what was asked for and replaces it in its place,
 * and ends well; the job would not.
 */
function replacedProblems(found: Simulation, names: readonly string[]): Problem[] {
  const { known, problems } = found;
  if (problems.length > 0) return [];
  const there = known.candidates().filter(isThere);
  const isProvided = (name: string): boolean =>
    there.some(({ provides }) => provides.some((provided) => provided.name === name));
  return names.flatMap((name) => {
    const [replacement] = known.find(name)?.replacedBy ?? [];
    if (replacement === undefined) return [];
    known.budget.spend(there.length);
    if (isProvided(name)) return [];
    const message =
      `cannot install ${appOf(name).name}: opkg installs ${replacement.name} in the place of ` +
      `${name}, which it replaces`;
    const remedy = `Install ${replacement.name} instead.`;
    return [{ ...createProblem('dependency_conflict', message, name), remedy }];
  });
}
