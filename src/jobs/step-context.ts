import { sentence } from './explanation.ts';
import type { Step, StepContext } from './plan.ts';
import { ownLine } from './task-logs.ts';
import type { Run } from './run.ts';

/** What of a job's run its steps may see and do. */
export function contextOf(
  run: Pick<Run, 'job' | 'logs' | 'abort' | 'printed' | 'isWritten'>,
  step: Step,
): StepContext {
  const { job, logs, abort } = run;
  const mayBeStopped = job.phase === 'steps' && step.isLate !== true;
  return {
    job,
    memory: structuredClone(job.memory),
    signal: mayBeStopped ? abort.signal : new AbortController().signal,
    note: async (line) => {
      await run.printed;
      await logs.append(job.id, ownLine(line));
    },
    printed: async (bytes) => {
      await run.printed;
      const content = await logs.read(job.id, job.outputFrom ?? 0, bytes);
      return content.toString('utf8').replace(/\uFFFD$/, '');
    },
    lastPrinted: async (bytes) => {
      await run.printed;
      const from = job.outputFrom ?? 0;
      const size = (await logs.size(job.id)) ?? from;
      const start = Math.max(from, size - bytes);
      const content = await logs.read(job.id, start, Math.max(0, size - start));
      if (start === from) return content.toString('utf8');
      const text = fromCharacter(content).toString('utf8');
      // What is cut off begins in the middle of a line; if that has no end, it is left as it is.
      return text.slice(text.indexOf('\n') + 1);
    },
    isWritten: run.isWritten === true,
    logFile: logs.fileOf(job.id),
    show: (command) => (job.command = command),
    reportChanged: (packages) => {
      if (packages.length > 0) job.packages = [...packages];
      else delete job.packages;
    },
    reportResult: (more) => (job.result = { ...job.result, ...more }),
    addToError: (clause) => {
      const { verdict } = job;
      if (verdict === undefined || verdict.error.includes(clause)) return;
      verdict.error = sentence(`${verdict.error}; ${clause}`);
    },
    callDone: () => {
      delete job.verdict;
    },
  };
}

/** Drops the rest of a character that was cut: continuation bytes, at most three (RFC 3629). */
function fromCharacter(content: Buffer): Buffer {
  let start = 0;
  while (start < 3 && ((content[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return content.subarray(start);
}
