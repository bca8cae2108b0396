import type { Job } from '../../../jobs/job.ts';
import { paramsOf } from '../job/action-plan.ts';
import type { ActionRecord } from '../records/action-record.ts';
import type { Fleet } from './fleet.ts';

/** The kind of job that an action is, and that depotd's own upgrade is. */
export const FLEET_JOB = 'fleet';
export const SELF_UPGRADE_JOB = 'self-upgrade';

/**
 * The attempt is on record before the job is asked for: a daemon that was killed in between finds
 * the job by it, or asks again.
 */
export async function beginJob(fleet: Fleet, { key, attempts }: ActionRecord): Promise<void> {
  const { records, submit } = fleet;
  const record = await records.update(key, { attempts: Math.max(1, attempts) });
  if (record?.work === undefined) return;
  const params = { ...paramsOf(key, record.work), attempt: String(record.attempts) };
  const known = jobOf(fleet, record);
  const found =
    known === undefined ? await submit(FLEET_JOB, record.title, params) : { job: known };
  if ('job' in found) await records.update(key, { jobId: found.job.id });
}

/** The job of the last attempt, if there is one. */
export function jobOf({ queue }: Pick<Fleet, 'queue'>, record: ActionRecord): Job | undefined {
  const { key, jobId, attempts } = record;
  if (jobId !== undefined) return queue.get(jobId);
  return queue
    .all()
    .findLast(
      ({ kind, params }) =>
        kind === FLEET_JOB && params.action === key && params.attempt === String(attempts),
    );
}
