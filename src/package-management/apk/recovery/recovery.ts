import { join } from 'node:path';
import { run } from '../../../device/exec.ts';
import type { RunResult } from '../../../device/command.ts';
import type { StepContext } from '../../../jobs/plan.ts';
import type { PackageChange } from '../../manager.ts';
import type { Installation } from '../installation.ts';
import { withLock } from '../changing/lock.ts';
import {
  findLeftovers,
  findTemporary,
  removeLeftovers,
  removeNewSettings,
  removeTemporary,
  type Leftovers,
} from './leftovers.ts';
import type { TransactionRecord } from './transaction-record.ts';
import { editWorld } from '../database/world-edit.ts';

/** A script that hangs has the same time here as in any other repair. */
const LIMITS = { timeoutMs: 5 * 60_000, maxBytes: 16 * 1024 ** 2 };

/** Whether it did while the job ran, or while what a failed or stopped one left was repaired. */
export function hasPowerGone({ job }: StepContext): boolean {
  return job.verdict?.state === 'interrupted' || job.isRepairCut === true;
}

/** What the job's command left, if it was cut off. */
export async function leftoversOf(
  installation: Installation,
  context: StepContext,
): Promise<{ record: TransactionRecord; left: Leftovers } | undefined> {
  const record = await installation.records.read(context.job.id);
  if (record === undefined) return undefined;
  const left = await findLeftovers(record, installation, hasPowerGone(context));
  return Object.values(left).flat().length === 0 ? undefined : { record, left };
}

/**
 * Brings record and disk together after a command that was cut off. apk does all of it again, since
 * it knows nothing of what it did: from what was fetched, or from what was kept. Only then can an
 * installation be taken back like others; its scripts are not run for that. An upgrade and a
 * removal are finished, with their scripts, or without if these are what hangs or fails.
 */
export async function finishCutOff(installation: Installation, context: StepContext) {
  const found = await leftoversOf(installation, context);
  if (found === undefined) return;
  await installation.prepareFolders();
  await context.note('apk was cut off before it recorded what it did: it does that again');
  await removeNewSettings(found.left.installed, found.record, installation.root);
  const attempts = found.record.verb === 'install' ? [['--no-scripts']] : [[], ['--no-scripts']];
  for (const options of attempts) {
    const { exitCode, stderr } = await doAgain(installation, found, options);
    if ((await leftoversOf(installation, context)) === undefined) return;
    const words = stderr.trim().slice(0, 300);
    await context.note(`apk ends with exit code ${exitCode ?? 'none'}: ${words}`);
  }
}

async function doAgain(
  { commands, reader, copy, locations, environment }: Installation,
  { record, left }: { record: TransactionRecord; left: Leftovers },
  options: readonly string[],
): Promise<RunResult> {
  const { verb, names, file, kept, changes } = record;
  const database = await reader.read();
  const recorded = left.changed.filter((name) =>
    changes.some((entry) => entry.name === name && entry.to === database.get(name)?.version),
  );
  // apk takes what is on record for done, and passes over the file of it.
  if (recorded.length > 0) return run(commands.reinstall(recorded, ...options), LIMITS);
  if (kept.length === 0) {
    const change: PackageChange = { verb, names, ...(file && { file }) };
    return run(commands.change(change, ...options), LIMITS);
  }
  const result = await run(commands.addFiles(kept, ...options), LIMITS);
  const before = await copy.world();
  // Each file that was added is pinned now, dependencies, too.
  if (before !== undefined) await editWorld(locations, environment, () => before.entries);
  return result;
}

/** @returns the packages whose files were removed */
export async function removeCutOff(installation: Installation, context: StepContext) {
  const found = await leftoversOf(installation, context);
  if (found === undefined) return [];
  const { record, left } = found;
  await removeLeftovers(left.installed, record, installation);
  const stuck = [...left.changed, ...left.removed].join(', ');
  if (stuck !== '') {
    await context.note(`${stuck} is not as apk has it on record; upgrade or remove it once more`);
  }
  return left.installed;
}

/** Removes what apk was writing when it was killed, whatever the job's outcome; under its lock. */
export async function removeUnfinished(
  { records, locations, root, environment }: Installation,
  { job }: StepContext,
): Promise<void> {
  const { folders = [] } = (await records.read(job.id)) ?? {};
  const paths = folders.map((folder) => join(root, folder));
  if ((await Promise.all(paths.map(findTemporary))).flat().length === 0) return;
  await withLock(locations.lock, environment, async () => {
    for (const path of paths) await removeTemporary(path);
  });
}
