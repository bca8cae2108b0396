import { readFile } from 'node:fs/promises';
import * as v from 'valibot';
import { freeBytesOf } from '../../../device/disk/space.ts';
import { DepotError, reasonOf } from '../../../errors.ts';
import { slots, type Remembering } from '../../../jobs/memory.ts';
import type { StepContext } from '../../../jobs/plan.ts';
import { removalSet } from '../../../package-management/dependencies.ts';
import { explained, failureError } from '../../../package-management/failure.ts';
import type { InspectedFile, PackageChange } from '../../../package-management/manager.ts';
import { isPackageName, OWN_PACKAGE } from '../../../package-management/names.ts';
import { isPresent } from '../../../package-management/database.ts';
import { systemFailure } from '../../../package-management/system-packages.ts';
import type { Problem } from '../../../package-management/problem.ts';
import { fleetFailure } from '../failures.ts';
import { checkAllowed, MOST_SIGNATURE_BYTES, readVerificationKey } from '../rollout/permission.ts';
import type { Work } from '../rollout/work.ts';
import { readChangedSettings } from './changed-settings.ts';
import { checkTokenFile } from './verify-steps.ts';
import { packagesNamed, type FleetJobTools, type Task } from './fleet-job-tools.ts';

/** What the check found, for the steps behind it. */
const checked = slots('the check', {
  found: v.object({
    packages: v.array(
      v.object({
        path: v.string(),
        name: v.string(),
        version: v.string(),
        /** Whether the package comes in the place of a newer version. */
        isOlder: v.optional(v.boolean(), false),
      }),
    ),
    install: v.array(v.string()),
    /** Names of packages that are to be upgraded, and are not there. */
    absent: v.optional(v.array(v.string()), []),
  }),
});
export type Found = ReturnType<typeof readFound>;

export function readFound(from: Remembering) {
  return checked.read(from).found;
}

/** Whether the job is beyond its check, so that it may have changed something. */
export function hasBegun(job: Remembering): boolean {
  return checked.find(job) !== undefined;
}

/**
 * Judges all of an action before anything of it is done: the files as they lie there, who may do
 * it, and every name. Then remembers what is on the device. @throws DepotError
 */
export async function checkWork(
  tools: FleetJobTools,
  { work, key }: Task,
  context: StepContext,
): Promise<void> {
  const { manager, baseline } = tools;
  checkAllowed(work, tools.settings());
  checkTokenFile(tools, work);
  await checkFiles(tools, work);
  const packages = await markOlder(tools, await inspectPackages(tools, work));
  checkOwnPackage(work, packages);
  const install = await offeredNames(tools, work);
  const found: Found = { packages, install, absent: await absentNames(tools, work) };
  await checkChanges(tools, work, found);
  const { diff, ...texts } = await readChangedSettings(tools, work);
  await tools.kept.begin(key);
  await baseline.save(key, { packages: await manager.installed(), ...texts });
  if (diff.length > 0) await tools.records.update(key, { diff: bounded(diff) });
  // Last: a job that has this record may have changed something.
  checked.write(context, { found });
}

const MOST_CHANGES = 20;

function bounded(diff: readonly string[]): string[] {
  const rest = diff.length - MOST_CHANGES;
  return [...diff.slice(0, MOST_CHANGES), ...(rest > 0 ? [`and ${rest} more`] : [])];
}

/** What was whole when it was downloaded may have been changed since. */
async function checkFiles({ downloads, settings }: FleetJobTools, { files, signatures }: Work) {
  for (const file of [...files, ...signatures]) {
    if (!(await downloads.isWhole(file))) {
      throw new DepotError('not_found', `cannot install ${file.label}: it is not there any more`);
    }
  }
  const keyFile = settings().key_file;
  if (keyFile === '') return;
  const isSigned = await readVerificationKey(keyFile);
  for (const file of files) {
    const signature = signatures.find(({ sha256 }) => sha256 === file.signature);
    const text =
      signature === undefined ? '' : await readFile(downloads.fileOf(signature), 'latin1');
    const signed = text.slice(0, MOST_SIGNATURE_BYTES);
    if (!isSigned(await readFile(downloads.fileOf(file)), signed)) {
      const message = `cannot install ${file.label}: it is not signed with fleet.key_file`;
      throw fleetFailure('forbidden', 'signature', message);
    }
  }
}

/** In an order in which each finds what it depends on, if that is among them. */
async function inspectPackages({ manager, downloads, paths }: FleetJobTools, { files }: Work) {
  const freeBytes = await freeBytesOf(paths.root);
  const found = new Map<string, Found['packages'][number] & InspectedFile>();
  for (const file of files.filter(({ kind }) => kind === 'package')) {
    const path = downloads.fileOf(file);
    const content = await manager.files.inspect(path, freeBytes).catch((error: unknown) => {
      throw damaged(file.label, error);
    });
    const { name } = content;
    if (!isPackageName(name)) throw unfit(`cannot install ${file.label}: it has no good name`);
    if (found.has(name)) throw unfit(`cannot do the action: two of its files are ${name}`);
    found.set(name, { path, isOlder: false, ...content });
  }
  const ordered: Found['packages'] = [];
  const add = (name: string, trail: readonly string[]): void => {
    const entry = found.get(name);
    if (entry === undefined || trail.includes(name)) return;
    found.delete(name);
    for (const wanted of entry.depends.flat()) add(wanted, [...trail, name]);
    ordered.push({ path: entry.path, name, version: entry.version, isOlder: false });
  };
  for (const name of [...found.keys()].sort()) add(name, []);
  return ordered;
}

/** A set is the state that is wished for, so that an earlier one is a way back. */
async function markOlder(
  { manager, settings }: FleetJobTools,
  packages: Found['packages'],
): Promise<Found['packages']> {
  const installed = await manager.installed();
  const marked = packages.map((entry) => {
    const now = installed.get(entry.name);
    const isOlder = isPresent(now) && manager.compareVersions(entry.version, now.version) < 0;
    return { ...entry, isOlder };
  });
  const older = marked.find(({ isOlder }) => isOlder);
  if (older === undefined || settings().allow.includes('downgrade')) return marked;
  throw fleetFailure(
    'forbidden',
    'older_version',
    `cannot install ${older.name} ${older.version}: ` +
      `${installed.get(older.name)?.version ?? ''} is installed, and ` +
      'fleet.allow of this device does not have "downgrade"',
  );
}

/** What says itself what is wrong, no space say, keeps its codes. */
function damaged(label: string, cause: unknown): DepotError {
  const known = cause instanceof DepotError ? cause : undefined;
  const explanation = known?.explanation ?? explained('damaged_package');
  const message = `cannot install ${label}: ${reasonOf(cause)}`;
  return new DepotError(known?.code ?? 'bad_request', message, { cause, explanation });
}

function unfit(message: string): DepotError {
  return new DepotError('bad_request', message);
}

/** depotd's own scripts stop this daemon; self-upgrade waits for the new one, or goes back. */
function checkOwnPackage(work: Work, packages: Found['packages']): void {
  const names = [...packages.map(({ name }) => name), ...work.install, ...work.upgrade];
  if (![...names, ...work.remove].some((name) => name === OWN_PACKAGE)) return;
  const message = `cannot do the action: ${OWN_PACKAGE} itself is changed by "self_upgrade" alone`;
  throw new DepotError('forbidden', message);
}

/** The app's meta package if one is offered, else the package of that name. */
async function offeredNames({ manager }: FleetJobTools, { install }: Work): Promise<string[]> {
  const offers = await manager.offers(install.flatMap(packagesNamed));
  const installed = await manager.installed();
  const isThere = (name: string): boolean => offers.has(name) || isPresent(installed.get(name));
  return install.map((name) => {
    const found = packagesNamed(name).find(isThere);
    if (found !== undefined) return found;
    throw new DepotError('not_found', `cannot install ${name}: no feed of this device has it`);
  });
}

/** Packages to upgrade that this device lacks: of many devices only some have them. */
async function absentNames({ manager }: FleetJobTools, { upgrade }: Work): Promise<string[]> {
  const installed = await manager.installed();
  return upgrade.filter((name) =>
    packagesNamed(name).every((each) => !isPresent(installed.get(each))),
  );
}

/** The package manager's own view, which does not know of files that come with the same action. */
async function checkChanges({ manager }: FleetJobTools, work: Work, { packages, install }: Found) {
  const installed = await manager.installed();
  const presentOf = (names: readonly string[]): string[] =>
    names.flatMap((name) => {
      const found = packagesNamed(name).find((each) => isPresent(installed.get(each)));
      return found ?? [];
    });
  const leaving = presentOf(work.remove);
  if (!work.isOfSystem) {
    const going = removalSet(installed, leaving, await manager.imagePackages());
    const refused = await systemFailure(manager, leaving, going);
    if (refused !== undefined) {
      throw failureError('do the action', {
        ...refused,
        reason: `${refused.package}: ${refused.reason}`,
        remedy: SYSTEM,
      });
    }
  }
  const changes: PackageChange[] = [
    { verb: 'install', names: install },
    { verb: 'upgrade', names: presentOf(work.upgrade) },
    { verb: 'remove', names: leaving },
  ];
  for (const change of changes.filter(({ names }) => names.length > 0)) {
    const { problems } = await manager.preview(change);
    const problem = problems.find(
      ({ code }) => packages.length === 0 || code !== 'dependency_missing',
    );
    if (problem !== undefined) throw failureOf(problem);
  }
}

const SYSTEM = 'Leave it, or say "system": true in the plan of the action.';

function failureOf({ code, message, remedy }: Problem): DepotError {
  const text = `cannot do the action: ${message.replace(/^cannot /, '')}`;
  return new DepotError('command_failed', text, { explanation: { code, remedy } });
}
