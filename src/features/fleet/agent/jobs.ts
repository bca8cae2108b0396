import { unixNow, type Job } from '../../../jobs/job.ts';
import { isEnded } from '../../../jobs/states.ts';
import { OWN_PACKAGE } from '../../../package-management/names.ts';
import { hasBegun } from '../job/check.ts';
import { MOST_ATTEMPTS, paramsOf } from '../job/plan.ts';
import { isOpen, type ActionEnd, type ActionRecord } from '../records/action-record.ts';
import type { Fleet } from './fleet.ts';

/** The kind of job that an action is, and that depotd's own upgrade is. */
export const FLEET_JOB = 'fleet';
export const SELF_UPGRADE_JOB = 'self-upgrade';

/**
 * Begins the job of an action. The attempt is on record before the job is asked for, so that a
 * daemon that was killed in between finds the job by it, or asks again.
 */
export async function beginJob(fleet: Fleet, { key }: ActionRecord): Promise<void> {
  const { records, submit } = fleet;
  const record = await records.update(key, ({ attempts }) => ({ attempts: Math.max(1, attempts) }));
  if (record?.work === undefined) return;
  const job = jobOf(fleet, record);
  if (job !== undefined) {
    await records.update(key, () => ({ jobId: job.id }));
    return;
  }
  const params = { ...paramsOf(key, record.work), attempt: String(record.attempts) };
  const submission = await submit(FLEET_JOB, record.title, params);
  if ('job' in submission) {
    const { id } = submission.job;
    await records.update(key, () => ({ jobId: id }));
  }
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

/** Whether anything of the action may have been done already. */
export function hasChanged(job: Job): boolean {
  return job.phase === 'repair' || hasBegun(job);
}

/** Puts the ends of jobs on record that could not do that themselves. */
export async function adoptEndedJobs(fleet: Fleet): Promise<void> {
  for (const record of fleet.records.all()) {
    if (isOpen(record) && record.attempts > 0) await adoptEnd(fleet, record);
  }
}

async function adoptEnd(fleet: Fleet, record: ActionRecord): Promise<void> {
  const { records } = fleet;
  const { key, jobId, attempts, work } = record;
  const job = jobOf(fleet, record);
  if (job === undefined) {
    // Without an id it was never asked for.
    if (jobId !== undefined) await records.update(key, () => ({ end: forgottenEnd() }));
    return;
  }
  if (jobId === undefined) await records.update(key, () => ({ jobId: job.id }));
  if (!isEnded(job.state)) return;
  if (job.state === 'done' && work?.selfUpgrade === true) {
    await followSelfUpgrade(fleet, record);
  } else if (isRepeatable(job) && attempts < MOST_ATTEMPTS) {
    await records.update(key, () => ({ jobId: undefined, attempts: attempts + 1 }));
  } else await records.update(key, () => ({ end: endOf(job, record.title) }));
}

/** The device went down before anything was done. */
function isRepeatable(job: Job): boolean {
  return job.state === 'interrupted' && !hasBegun(job);
}

function forgottenEnd(): ActionEnd {
  return {
    result: 'failure',
    message: 'cannot tell how the action ended: its task is not on record any more',
    errorCode: 'interrupted',
    at: unixNow(),
  };
}

function endOf({ state, error, errorCode, exitCode }: Job, title: string): ActionEnd {
  if (state === 'done') return { result: 'success', message: title, exitCode: 0, at: unixNow() };
  return {
    result: state === 'stopped' ? 'canceled' : 'failure',
    message: error ?? `the task ended as ${state}`,
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(errorCode === undefined ? {} : { errorCode }),
    at: unixNow(),
  };
}

/** The last thing that an action does; the daemon that sees its end is the new one. */
async function followSelfUpgrade(fleet: Fleet, record: ActionRecord): Promise<void> {
  const { records, queue, submit } = fleet;
  const job = queue.all().findLast(({ kind }) => kind === SELF_UPGRADE_JOB);
  const after = record.selfUpgradeAfter ?? job?.id ?? '';
  await records.update(record.key, () => ({ selfUpgradeAfter: after }));
  if (job === undefined || job.id === after) await submit(SELF_UPGRADE_JOB, OWN_PACKAGE, {});
  else if (isEnded(job.state)) {
    await records.update(record.key, () => ({ end: endOf(job, record.title) }));
  }
}
