import type { Job } from './job.ts';
import type { CommandStep, StepContext } from './plan.ts';

const READ_MS = 1000;
/** The end of the log that is read. */
const TAIL_BYTES = 4096;

/**
 * Keeps `job.percent` as the command's output has it, until `end`. A command that another daemon
 * started is read as well.
 */
export function watchPercent(
  { percentIn }: CommandStep,
  context: StepContext,
  job: Job,
): { end: () => void } {
  if (percentIn === undefined) return { end: () => undefined };
  let hasEnded = false;
  const read = async (): Promise<void> => {
    // A log that is gone, with its tmpfs say, says nothing.
    const percent = percentIn(await context.lastPrinted(TAIL_BYTES).catch(() => ''), context);
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
