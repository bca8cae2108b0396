import { isEnded, type Job } from '../../../jobs/job.ts';
import { sizeText } from '../../../format-bytes.ts';
import { nowMs } from '../clock.ts';
import type { Feedback } from '../ddi/feedback.ts';
import { isOpen, type ActionRecord } from '../records/action-record.ts';
import { noticesOf, type Fleet, type Server } from './fleet.ts';
import { jobOf } from './action-jobs.ts';
import { lastLines, notify } from './report.ts';

/** Pause between two notices of progress. */
export const PROGRESS_MS = 30_000;
/** hawkBit takes 1000 entries an action: far fewer are sent, and ever more rarely. */
const MOST_POSTS = 200;
const OFTEN_POSTS = 40;
const RARE_MS = 5 * 60_000;

/** Whether there may be progress: of a job of an action, or of a download. */
export function isAtWork(fleet: Fleet): boolean {
  return fleet.known.transfer !== undefined || runningJobs(fleet).length > 0;
}

/** Sends the server how far the action under way is, if that has changed. */
export async function reportProgress(fleet: Fleet, server: Server): Promise<void> {
  const { transfer } = fleet.known;
  const fetching = transfer === undefined ? undefined : fleet.records.find(transfer.key);
  if (transfer !== undefined && fetching !== undefined) {
    const { doneBytes, totalBytes } = transfer;
    const text = `${sizeText(doneBytes)} of ${sizeText(totalBytes)} are here`;
    await report(fleet, server, { record: fetching, execution: 'download', text });
  }
  for (const { record, job } of runningJobs(fleet)) {
    const lines = (await lastLines(fleet, job.id)).slice(-5);
    const text = [...lines, `${job.stepLabel ?? 'end'} (task ${job.id})`].join('\n');
    await report(fleet, server, { record, execution: 'proceeding', text });
  }
}

/** The first notice is due a while after what was said when the action began. */
async function report(
  fleet: Fleet,
  server: Server,
  progress: { record: ActionRecord; execution: Feedback['execution']; text: string },
): Promise<void> {
  const { record, execution, text } = progress;
  const notices = noticesOf(fleet.known, record);
  const pause = notices.posts < OFTEN_POSTS ? PROGRESS_MS : RARE_MS;
  const isDue = nowMs() - notices.lastAt >= pause - 1000 && notices.posts < MOST_POSTS;
  if (!isDue || text === notices.lastText || record.from !== server.from) return;
  Object.assign(notices, { lastAt: nowMs(), lastText: text });
  const feedback = { execution, details: text.split('\n') };
  await notify(fleet, server, { record, feedback });
}

function runningJobs(fleet: Fleet): { record: ActionRecord; job: Job }[] {
  return fleet.records.all().flatMap((record) => {
    const job = isOpen(record) && record.attempts > 0 ? jobOf(fleet, record) : undefined;
    return job !== undefined && !isEnded(job.state) ? [{ record, job }] : [];
  });
}
