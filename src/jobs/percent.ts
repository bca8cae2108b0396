import type { Job } from './job.ts';
import type { CommandStep, StepContext } from './plan.ts';
import type { TaskLogs } from './log.ts';

const READ_MS = 1000;
/** The end of the log that is read. */
const TAIL_BYTES = 4096;

/**
 * Keeps `job.percent` as the command's output has it, until `end`. A command that another daemon
 * started is read as well.
 */
export function watchPercent(
  { percentIn }: CommandStep,
  { context, job, logs }: { context: StepContext; job: Job; logs: TaskLogs },
): { end: () => void } {
  if (percentIn === undefined) return { end: () => undefined };
  let hasEnded = false;
  const read = async (): Promise<void> => {
    const size = (await logs.size(job.id)) ?? 0;
    const from = Math.max(job.outputFrom ?? 0, size - TAIL_BYTES);
    // A log that is gone, with its tmpfs say, says nothing.
    const tail =
      size > from
        ? (await logs.read(job.id, from, size - from).catch(() => Buffer.alloc(0))).toString('utf8')
        : '';
    const percent = percentIn(tail, context);
    if (!hasEnded && percent !== undefined) job.percent = percent;
  };
  const timer = setInterval(() => void read(), READ_MS).unref();
  return {
    end: () => {
      hasEnded = true;
      clearInterval(timer);
      delete job.percent;
    },
  };
}
