import type { Job } from './job.ts';
import type { Step, StepContext } from './plan.ts';
import { ownLine, type TaskLogs } from './log.ts';

/** What of a job's run its steps may see and do. */
export function contextOf(
  { job, logs, abort }: { job: Job; logs: TaskLogs; abort: AbortController },
  step: Step,
): StepContext {
  return {
    job,
    memory: structuredClone(job.memory),
    signal:
      job.phase === 'steps' && step.isLate !== true ? abort.signal : new AbortController().signal,
    note: (line) => logs.append(job.id, ownLine(line)),
    printed: async (bytes) =>
      (await logs.read(job.id, job.outputFrom ?? 0, bytes)).toString('utf8'),
    logFile: logs.fileOf(job.id),
    show: (command) => (job.command = command),
    callDone: () => {
      delete job.verdict;
    },
  };
}
