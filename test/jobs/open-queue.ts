import { join } from 'node:path';

import type { Command } from '../../src/device/command.ts';
import { DepotError } from '../../src/errors.ts';
import { createProcesses } from '../../src/device/processes.ts';
import type { Job } from '../../src/jobs/job.ts';
import { openJournal, type Journal } from '../../src/jobs/journal/journal.ts';
import { createTaskLogs, type TaskLogs } from '../../src/jobs/task-logs.ts';
import { retryFrom, type Plan, type Step } from '../../src/jobs/plan.ts';
import type { RetentionLimits } from '../../src/jobs/pruning.ts';
import { createQueue, type JobRequest, type Queue } from '../../src/jobs/queue.ts';
import { createRunner } from '../../src/jobs/runner.ts';
import { createLog } from '../../src/log.ts';

export interface OpenQueue {
  queue: Queue;
  logs: TaskLogs;
  journal: Journal;
}

export interface QueueSettings {
  limits?: RetentionLimits;
  mostQueued?: number;
  /** Called before a record is written. */
  onSaving?: (job: Job) => void;
  /** Called after a record was written, and before whatever waits for it goes on. */
  onSaved?: (job: Job) => void;
  /** Called when an act named `crash` is taken. */
  onCrash?: (job: Job) => void;
  /** What another version of depotd makes of the plan. */
  changePlan?: (plan: Plan) => Plan;
}

/**
 * The real journal, runner and queue, with plans for tests: a parameter whose name begins with a
 * digit is a step, one that begins with `r` a step of the repair; one that ends with `late` is not
 * stopped. Its value is a text for a shell, or `crash`, or `tell` for a note on whether the step is
 * told to stop, or `again ID` to go back to a step, or `fail CODE TEXT` for an error with that code.
 */
export async function openQueue(
  folder: string,
  {
    limits = { jobs: 1000, logBytes: 1024 ** 3 },
    mostQueued = 2000,
    onSaving,
    onSaved,
    onCrash,
    changePlan = (plan) => plan,
  }: QueueSettings = {},
): Promise<OpenQueue> {
  const [journal, logs] = await Promise.all([
    openJournal(join(folder, 'state')),
    createTaskLogs(join(folder, 'logs')),
  ]);
  const log = createLog('silent');
  const planOf = ({ params }: Job): Plan => {
    return changePlan({ steps: stepsOf(params, /^\d/), repair: stepsOf(params, /^r/) });
  };
  const stepsOf = (params: Record<string, string>, pattern: RegExp): Step[] =>
    Object.keys(params)
      .filter((name) => pattern.test(name))
      .sort()
      .map((name) => stepOf(name, params[name] ?? ''));
  const stepOf = (id: string, text: string): Step => {
    const label = `step ${id}`;
    const [, again] = /^again (.*)$/.exec(text) ?? [];
    if (again !== undefined) {
      return { id, label, act: () => Promise.resolve(retryFrom({ id: again })) };
    }
    const [, code, message = ''] = /^fail (\S+) ([^]*)$/.exec(text) ?? [];
    if (code !== undefined) {
      const explanation = { code, remedy: `Mend the ${code}.` };
      const error = new DepotError('command_failed', message, { explanation });
      return { id, label, act: () => Promise.reject<undefined>(error) };
    }
    if (text !== 'crash' && text !== 'tell') {
      return {
        id,
        label,
        mustSucceed: true,
        isLate: id.endsWith('late'),
        command: () => shell(folder, text),
      };
    }
    return {
      id,
      label,
      act: async ({ job, note, signal }) => {
        if (text === 'crash') onCrash?.(job);
        else await note(`${id} is told to stop: ${String(signal.aborted)}`);
      },
    };
  };
  const save = async (job: Job): Promise<void> => {
    onSaving?.(job);
    await journal.save(job);
    onSaved?.(job);
  };
  const processes = createProcesses();
  const runner = createRunner({ processes, logs, log, planOf, save });
  const queue = createQueue({
    journal,
    logs,
    log,
    runner,
    processes,
    planOf,
    mostQueued: () => mostQueued,
    contradicts: (kind, other) => kind !== other,
    limits: () => limits,
  });
  return { queue, logs, journal };
}

function shell(folder: string, text: string): Command {
  return { argv: ['sh', '-c', text], environment: { PATH: '/usr/bin:/bin' }, cwd: folder };
}

export function request(
  subject: string,
  params: Record<string, string>,
  more: Partial<JobRequest> = {},
): JobRequest {
  return {
    kind: 'install',
    lane: 'package',
    subject,
    params,
    command: `install ${subject}`,
    ...more,
  };
}
