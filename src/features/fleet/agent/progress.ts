import { isEnded } from '../../../jobs/states.ts';
import type { Job } from '../../../jobs/job.ts';
import { nowMs } from '../clock.ts';
import { isOpen, type ActionRecord } from '../records/action-record.ts';
import { noticesOf, type Fleet, type Server } from './fleet.ts';
import { jobOf } from './jobs.ts';
import { lastLines, notify } from './report.ts';

/** Between two notices of progress. */
export const PROGRESS_MS = 30_000;
/** hawkBit takes 1000 entries an action: far fewer are sent, and ever more rarely. */
const MOST_POSTS = 200;
const OFTEN_POSTS = 40;
const RARE_MS = 5 * 60_000;

/** Whether a job of an action runs, so that there may be progress. */
export function isAtWork(fleet: Fleet): boolean {
  return runningJobs(fleet).length > 0;
}

/** Sends the server how far the job under way is, if that has changed. */
export async function reportProgress(fleet: Fleet, server: Server): Promise<void> {
  for (const { record, job } of runningJobs(fleet)) {
    const notices = noticesOf(fleet.known, record);
    const pause = notices.posts < OFTEN_POSTS ? PROGRESS_MS : RARE_MS;
    const lines = (await lastLines(fleet, job.id)).slice(-5);
    const text = [...lines, `${job.stepLabel ?? 'end'} (task ${job.id})`].join('\n');
    const isDue = nowMs() - notices.lastAt >= pause - 1000 && notices.posts < MOST_POSTS;
    if (!isDue || text === notices.lastText || record.from !== server.from) continue;
    Object.assign(notices, { lastAt: nowMs(), lastText: text });
    const details = text.split('\n');
    const feedback = { execution: 'proceeding', finished: 'none', details } as const;
    await notify(fleet, server, { record, feedback });
  }
}

function runningJobs(fleet: Fleet): { record: ActionRecord; job: Job }[] {
  return fleet.records.all().flatMap((record) => {
    const job = isOpen(record) && record.attempts > 0 ? jobOf(fleet, record) : undefined;
    return job !== undefined && !isEnded(job.state) ? [{ record, job }] : [];
  });
}
