import { readFile } from 'node:fs/promises';
import { rewriteFile } from '../../../device/durable-file.ts';
import type { StepContext } from '../../../jobs/plan.ts';
import { changedPackages, isPresent } from '../../database.ts';
import { lasting, ownPackages } from '../../transaction-slots.ts';
import { waitForOpkg } from '../changing/lock.ts';
import { packageIn, parseStatus } from '../database/status-file.ts';
import { splitParagraphs } from '../database/stanza.ts';
import type { Installation } from '../installation.ts';

/**
 * opkg's record may have come to the disk before a power cut, and the files not: the record from
 * before is put back, so that the job can be done again.
 */
export async function restoreUnwritten(installation: Installation, context: StepContext) {
  const { statusCopy, statusFile } = installation;
  const { job, note } = context;
  if (job.phase !== 'repair' || job.verdict?.state !== 'interrupted') return;
  if (lasting.read(context).isWritten !== false) return;
  // Somebody else's opkg would write its own status over it.
  await waitForOpkg(installation, context);
  const before = await statusCopy.text();
  const now = await readFile(statusFile, 'utf8').catch(() => undefined);
  if (before === now) return;
  lasting.write(context, { isRestored: true });
  const merged = before && now && withOthers(context, { before, now });
  if (!merged) await statusCopy.restore();
  else {
    await rewriteFile(statusFile, merged);
    await statusCopy.save();
  }
  await note('the record of opkg from before is put back: the power went before all was written');
}

/** The status file of before a job with what others installed since, if any is known. */
function withOthers(context: StepContext, { before, now }: { before: string; now: string }) {
  const [former, database] = [parseStatus(before), parseStatus(now)];
  const own = ownPackages(context, { before: former, now: database });
  const others = changedPackages(former, database).filter(
    (name) => own?.has(name) === false && isPresent(database.get(name)),
  );
  if (others.length === 0) return undefined;
  const paragraphs = [
    ...splitParagraphs(before).filter((text) => !others.includes(packageIn(text))),
    ...splitParagraphs(now).filter((text) => others.includes(packageIn(text))),
  ];
  // Each with the end that opkg gives it.
  return paragraphs.map((paragraph) => `${paragraph}\n\n`).join('');
}
