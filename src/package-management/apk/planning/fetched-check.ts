import { mkdir, readFile, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { foldersAbove } from '../../../device/inside-folder.ts';
import { replaceFile } from '../../../device/durable-file.ts';
import { run } from '../../../device/exec.ts';
import { isDiskFull } from '../../../device/disk/disk-full.ts';
import { isShortage } from '../../../device/shortage.ts';
import { DepotError, reasonOf } from '../../../errors.ts';
import type { StepContext } from '../../../jobs/plan.ts';
import { EXPLAINED_BYTES, failureError } from '../../failure.ts';
import type { PackageChange } from '../../manager.ts';
import { explain } from '../changing/failure.ts';
import { readPackageFile, type PackageContent } from '../package-file/apk-file.ts';
import { findDownloads } from './download.ts';
import { checkClashes, checkEssential, findAbsent } from './file-checks.ts';
import type { Installation } from '../installation.ts';
import { absentSettings } from '../recovery/leftovers.ts';
import { readPlan } from './plan-change.ts';
import { purposeOf } from './plan-check.ts';
import { freeBytesAt } from './space.ts';
import type { PlannedChange } from './simulation.ts';

/** Checks what was fetched before anything changes: what is missing ends the job here. */
export async function checkFetched(
  installation: Installation,
  context: StepContext,
  change: PackageChange | undefined,
): Promise<void> {
  const { changes, downloads } = readPlan(context);
  if (change === undefined || changes.length === 0) return;
  const purpose = purposeOf(change);
  const { locations, records, root } = installation;
  const files = await findDownloads(downloads, await installation.cache());
  const missing = downloads.filter(({ name }) => !files.has(name));
  if (missing.length > 0) throw await notFetched(context, purpose, missing);
  const { file: given } = change;
  if (given !== undefined) files.set(given.name, await verified(installation, given));
  const contents: PackageContent[] = [];
  for (const [name, file] of files) {
    contents.push(await readContent(file, { purpose, name, most: await freeBytesAt(root) }));
  }
  await checkClashes(purpose, contents, { changes, locations });
  await checkEssential(purpose, contents, { own: given?.name, locations });
  const gone = changes.filter(({ action }) => action === 'Purging').map(({ name }) => name);
  const folders = new Set(
    contents.flatMap(({ files: paths }) => paths.map((path) => dirname(path))),
  );
  const record = {
    jobId: context.job.id,
    verb: change.verb,
    names: [...change.names],
    ...(given && { file: given }),
    changes,
    kept: await keepPackages(installation, changes, [...files.values()]),
    absent: await absentSettings(gone, installation),
    folders: [...folders],
    created: await createdBy(contents, changes, root),
  };
  await records.write(record).catch(unlessFull(change));
}

/** A removal gives room: on a full disk it goes on without what is kept for a power cut. */
export function unlessFull(change: PackageChange | undefined): (error: unknown) => void {
  return (error) => {
    if (change?.verb !== 'remove' || !isDiskFull(error)) throw error;
  };
}

const FETCHED_REMEDY = 'Start the task again; if it fails again, the feed is damaged.';

/** apk keeps what a server breaks off and calls whole. */
async function readContent(
  file: string,
  { purpose, name, most }: { purpose: string; name: string; most: number },
): Promise<PackageContent> {
  return readPackageFile(file, most).catch((error: unknown) => {
    if (isShortage(error)) throw error;
    const why = reasonOf(error).replace(/^cannot take the file as a package: /, '');
    const isTooLarge = error instanceof DepotError && error.code === 'no_space';
    throw failureError(purpose, {
      code: isTooLarge ? 'no_space' : 'damaged_package',
      package: name,
      reason: `${name} could not be fetched: ${why}`,
      ...(isTooLarge ? {} : { remedy: FETCHED_REMEDY }),
    });
  });
}

async function createdBy(
  contents: readonly PackageContent[],
  changes: readonly PlannedChange[],
  root: string,
): Promise<Record<string, { files: string[]; folders: string[] }>> {
  const created: Record<string, { files: string[]; folders: string[] }> = {};
  for (const { name, files, folders } of contents) {
    if (!changes.some((entry) => entry.name === name && entry.action === 'Installing')) continue;
    const above = new Set([...folders, ...files.flatMap(foldersAbove)]);
    created[name] = {
      files: await findAbsent(root, files),
      folders: await findAbsent(root, [...above]),
    };
  }
  return created;
}

async function notFetched(
  { lastPrinted }: StepContext,
  purpose: string,
  missing: readonly PlannedChange[],
): Promise<DepotError> {
  const output = await lastPrinted(EXPLAINED_BYTES);
  const builds = missing.map(({ name, to = '' }) => `${name}-${to}`).join(', ');
  const said = explain({ output, names: missing.map(({ name }) => name) });
  // The message names the packages already: the reason does not repeat them.
  const why = missing.reduce(
    (text, { name }) => text.replace(`${name} cannot be downloaded: `, ''),
    said?.reason ?? '',
  );
  const what = `${builds} could not be fetched`;
  const reason = why === '' ? what : `${what}: ${why}`;
  return failureError(purpose, { code: 'download_failed', ...said, reason });
}

/** Read to its end: apk runs the script before it finds a package damaged. */
async function verified(
  { commands }: Installation,
  { path, name }: { path: string; name: string },
): Promise<string> {
  const command = commands.apk('verify', '--allow-untrusted', '--', path);
  const limits = { timeoutMs: 120_000, maxBytes: 64 * 1024 };
  const { exitCode, stdout } = await run(command, limits);
  if (exitCode === 0) return path;
  const why = stdout.trim().split('\n').at(-1)?.split(': ').at(-1) ?? 'it is damaged';
  throw failureError(`install ${name}`, { code: 'damaged_package', package: name, reason: why });
}

/**
 * A power cut takes what was fetched, and may come back without a network: an upgrade that was cut
 * off could neither go on nor back then. A removal and a first installation need no package.
 */
async function keepPackages(
  { locations: { keptPackages }, root }: Installation,
  changes: readonly PlannedChange[],
  files: readonly string[],
): Promise<string[]> {
  await rm(keptPackages, { recursive: true, force: true });
  if (!changes.some(({ action, from }) => action !== 'Purging' && from !== undefined)) return [];
  const sizes = await Promise.all(files.map(async (file) => (await stat(file)).size));
  const needed = sizes.reduce((sum, size) => sum + size, 0);
  if (needed > (await freeBytesAt(root)) / 4) return [];
  await mkdir(keptPackages, { recursive: true, mode: 0o700 });
  const kept: string[] = [];
  for (const [index, file] of files.entries()) {
    const copy = join(keptPackages, `${index}.apk`);
    await replaceFile(copy, await readFile(file));
    kept.push(copy);
  }
  return kept;
}
