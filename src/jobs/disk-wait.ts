import { setTimeout as delay } from 'node:timers/promises';
import { isDiskFull, isReadOnlyDisk } from '../device/disk/disk-full.ts';
import { reasonOf, succeeds } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Job } from './job.ts';
import { ownLine, type TaskLogs } from './task-logs.ts';
import type { Step } from './plan.ts';

/** How long the repair of a job waits, all in all. Clock: from its first wait. */
const DISK_LIMIT_MS = 10 * 60_000;
const PAUSE_MS = 500;

export type OutlastDisk = ReturnType<typeof createDiskWait>;

interface DiskWaitOptions {
  logs: TaskLogs;
  log: Log;
  save: (job: Job) => Promise<void>;
}

/**
 * Lets a repair wait for a disk that cannot be written now: does the work of a step again until it
 * can be, or until another fault has gone that the step waits out. The work must be safe to do
 * again.
 * @throws what the work throws for other reasons, or when the time is over
 */
export function createDiskWait(options: DiskWaitOptions, job: Job) {
  let deadline: number | undefined;
  return async <Value>(step: Step, work: () => Promise<Value>): Promise<Value> => {
    /** Whether the task log, which may lie on that disk, says it; undefined at the first look. */
    let isNoted: boolean | undefined;
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!isAwaited(step, error)) throw error;
        deadline ??= performance.now() + DISK_LIMIT_MS;
        if (performance.now() > deadline) throw error;
        if (isNoted === undefined) await beginWait(options, job, reasonOf(error));
        if (isNoted !== true) isNoted = await succeeds(options.logs.append(job.id, lineOf(error)));
        await delay(PAUSE_MS);
      }
    }
  };
}

function isAwaited({ waitsOut }: Step, error: unknown): boolean {
  return isReadOnlyDisk(error) || waitsOut?.(error) === true;
}

async function beginWait({ log, save }: DiskWaitOptions, job: Job, reason: string): Promise<void> {
  log.warn({ task: job.id, reason }, 'repair waits for a disk');
  if (job.resumes === 0) return;
  // A daemon that ends in a wait has not failed at the step.
  job.resumes = 0;
  await save(job).catch(() => undefined);
}

function lineOf(error: unknown): string {
  const reason = reasonOf(error);
  return ownLine(
    isReadOnlyDisk(error) || isDiskFull(error)
      ? `waiting for the disk: ${reason}`
      : `waiting until that is mended: ${reason}`,
  );
}
