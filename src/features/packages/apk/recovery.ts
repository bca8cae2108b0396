import { run } from '../../../device/exec.ts';
import type { StepContext } from '../../../jobs/plan.ts';
import type { PackageChange } from '../package-manager.ts';
import type { Installation } from './installation.ts';
import { findLeftovers, isClean, removeLeftovers, type Leftovers } from './leftovers.ts';
import type { TransactionRecord } from './transaction-record.ts';

/** A script that hangs has the same time here as in any other repair. */
const LIMITS = { timeoutMs: 5 * 60_000, maxBytes: 16 * 1024 ** 2 };

/** What the job's command left, if it was cut off. */
export async function leftoversOf(
  { records, locations, root }: Installation,
  { job }: StepContext,
): Promise<{ record: TransactionRecord; left: Leftovers } | undefined> {
  const record = await records.read(job.id);
  if (record === undefined) return undefined;
  const left = await findLeftovers(record, { root, installed: locations.installed });
  return isClean(left) ? undefined : { record, left };
}

/**
 * Brings record and disk together after a command that was cut off. apk does all of it again, since
 * it knows nothing of what it did: what was fetched is still there. Only then can an installation
 * be taken back as any other; its scripts are not run for that. An upgrade and a removal are
 * finished, with their scripts, or without if these are what hangs or fails.
 */
export async function finishCutOff(
  installation: Installation,
  context: StepContext,
): Promise<void> {
  const found = await leftoversOf(installation, context);
  if (found === undefined) return;
  const { verb, names, file } = found.record;
  const change: PackageChange = { verb, names, ...(file === undefined ? {} : { file }) };
  const attempts = verb === 'install' ? [['--no-scripts']] : [[], ['--no-scripts']];
  await context.note('apk was cut off before it recorded what it did: it does that again');
  for (const options of attempts) {
    const { exitCode, stderr } = await run(
      installation.commands.change(change, ...options),
      LIMITS,
    );
    const left = await leftoversOf(installation, context);
    if (left === undefined) return;
    await context.note(
      `apk ends with exit code ${exitCode ?? 'none'}: ${stderr.trim().slice(0, 300)}`,
    );
  }
}

/** @returns the packages whose files were removed */
export async function removeCutOff(
  installation: Installation,
  context: StepContext,
): Promise<string[]> {
  const found = await leftoversOf(installation, context);
  if (found === undefined) return [];
  const { record, left } = found;
  await removeLeftovers(left.installed, record, installation);
  const stuck = [...left.changed, ...left.removed];
  if (stuck.length > 0) {
    await context.note(
      `${stuck.join(', ')} is not as apk has it on record; upgrade or remove it once more`,
    );
  }
  return left.installed;
}
