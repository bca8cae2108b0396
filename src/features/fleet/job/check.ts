import { readFile, statfs } from 'node:fs/promises';
import * as v from 'valibot';
import { parseUciFile } from '../../../config/uci-file.ts';
import { DepotError } from '../../../errors.ts';
import type { StepContext } from '../../../jobs/plan.ts';
import { isPackageName, metaPackageOf } from '../../packages/names.ts';
import { isPresent } from '../../packages/package-database.ts';
import { checkAllowed } from '../work/permission.ts';
import { readVerificationKey } from '../work/signature.ts';
import type { Work } from '../work/work.ts';
import type { FleetJobTools } from './tools.ts';

/** The package that this program comes in. */
const OWN_PACKAGE = 'depotd';

/** What the check found, for the steps behind it. */
const foundSchema = v.object({
  packages: v.array(v.object({ path: v.string(), name: v.string(), version: v.string() })),
  install: v.array(v.string()),
});
export type Found = v.InferOutput<typeof foundSchema>;

export function readFound(memory: Record<string, unknown>): Found {
  return v.parse(foundSchema, memory.found);
}

/** Whether the job is beyond its check, so that it may have changed something. */
export function hasBegun(memory: Readonly<Record<string, unknown>>): boolean {
  return memory.found !== undefined;
}

/**
 * Judges all of an action before anything of it is done: the files as they lie there, who may do
 * it, and every name. Then remembers what is on the device.
 * @throws DepotError
 */
export async function checkWork(
  tools: FleetJobTools,
  { work, key }: { work: Work; key: string },
  { memory }: StepContext,
): Promise<void> {
  const { manager, baseline } = tools;
  checkAllowed(work, tools.settings());
  await checkFiles(tools, work);
  const packages = await inspectPackages(tools, work);
  checkOwnPackage(work, packages);
  memory.found = { packages, install: await offeredNames(tools, work) } satisfies Found;
  await checkUpgrades(tools, work);
  const configs = await readConfigs(tools, work);
  await baseline.save(key, { packages: await manager.installed(), configs });
}

/** What was whole when it was downloaded may have been changed since. */
async function checkFiles(
  { downloads, settings }: FleetJobTools,
  { files, signatures }: Work,
): Promise<void> {
  for (const file of [...files, ...signatures]) {
    if (!(await downloads.isWhole(file))) {
      throw new DepotError('not_found', `cannot install ${file.label}: it is not there any more`);
    }
  }
  const keyFile = settings().key_file;
  if (keyFile === '') return;
  const key = await readVerificationKey(keyFile);
  for (const file of files) {
    const signature = signatures.find(({ sha256 }) => sha256 === file.signature);
    const text = signature === undefined ? '' : await readText(downloads.fileOf(signature));
    if (!key.isSigned(await readFile(downloads.fileOf(file)), text)) {
      throw new DepotError(
        'forbidden',
        `cannot install ${file.label}: it is not signed with fleet.key_file`,
      );
    }
  }
}

/** A signature of usign has two lines. */
const MOST_SIGNATURE_CHARACTERS = 4096;

async function readText(path: string): Promise<string> {
  return (await readFile(path, 'latin1')).slice(0, MOST_SIGNATURE_CHARACTERS);
}

async function inspectPackages(
  { manager, downloads, paths }: FleetJobTools,
  { files }: Work,
): Promise<Found['packages']> {
  const { bavail, bsize } = await statfs(paths.root);
  const mostBytes = bavail * bsize;
  const found: Found['packages'] = [];
  for (const file of files.filter(({ kind }) => kind === 'package')) {
    const path = downloads.fileOf(file);
    const { name, version } = await manager.files.inspect(path, mostBytes);
    if (!isPackageName(name)) {
      throw new DepotError('bad_request', `cannot install ${file.label}: it has no good name`);
    }
    found.push({ path, name, version });
  }
  return found;
}

/** Its scripts stop this daemon; self-upgrade waits for the new one, and puts the old one back. */
function checkOwnPackage(work: Work, packages: Found['packages']): void {
  const names = [...packages.map(({ name }) => name), ...work.install, ...work.upgrade];
  if (![...names, ...work.remove].some((name) => name === OWN_PACKAGE)) return;
  throw new DepotError(
    'forbidden',
    `cannot do the action: ${OWN_PACKAGE} itself is changed by "self_upgrade" alone`,
  );
}

/** The app's meta package if one is offered, else the package of that name. */
async function offeredNames({ manager }: FleetJobTools, { install }: Work): Promise<string[]> {
  const wanted = install.flatMap((name) => [metaPackageOf(name), name]);
  const [offers, installed] = [await manager.offers(wanted), await manager.installed()];
  const isThere = (name: string): boolean => offers.has(name) || isPresent(installed.get(name));
  return install.map((name) => {
    const found = [metaPackageOf(name), name].find(isThere);
    if (found !== undefined) return found;
    throw new DepotError('not_found', `cannot install ${name}: no feed of this device has it`);
  });
}

async function checkUpgrades({ manager }: FleetJobTools, { upgrade }: Work): Promise<void> {
  const installed = await manager.installed();
  const absent = upgrade.find((name) =>
    [metaPackageOf(name), name].every((candidate) => !isPresent(installed.get(candidate))),
  );
  if (absent === undefined) return;
  throw new DepotError('not_found', `cannot upgrade ${absent}: it is not installed`);
}

/** @throws DepotError not_found if a section is not there: nobody knows what type it would have */
async function readConfigs(
  { paths }: FleetJobTools,
  { settings }: Work,
): Promise<Record<string, string>> {
  const configs: Record<string, string> = {};
  for (const name of Object.keys(settings)) {
    const [config = '', section = ''] = name.split('.');
    const text = await readFile(`${paths.uciDir}/${config}`, 'utf8').catch(() => '');
    const isThere = parseUciFile(text).sections.some((entry) => entry.name === section);
    if (!isThere) {
      throw new DepotError('not_found', `cannot set ${name}: there is no such section`);
    }
    configs[config] = text;
  }
  return configs;
}
