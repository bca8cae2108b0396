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
    lastPrinted: async (bytes) => {
      const from = job.outputFrom ?? 0;
      const size = (await logs.size(job.id)) ?? from;
      const start = Math.max(from, size - bytes);
      const text = (await logs.read(job.id, start, Math.max(0, size - start))).toString('utf8');
      return start === from ? text : behindFirstLine(text);
    },
    logFile: logs.fileOf(job.id),
    show: (command) => (job.command = command),
    reportChanged: (packages) => {
      if (packages.length > 0) job.packages = [...packages];
      else delete job.packages;
    },
    callDone: () => {
      delete job.verdict;
    },
  };
}

/** What is cut off begins in the middle of a line, and perhaps of a character. */
function behindFirstLine(text: string): string {
  return text.slice(text.indexOf('\n') + 1);
}
