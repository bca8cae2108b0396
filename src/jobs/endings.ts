import { outlastShortage } from '../device/shortage.ts';
import { failureTo, reasonOf } from '../errors.ts';
import { checkChange, type Job } from './job.ts';
import type { Journal } from './journal/journal.ts';
import type { RunnerOptions } from './run.ts';
import type { Ending } from './runner.ts';
import { endProcesses } from './stopping.ts';

interface EndingOptions extends Pick<RunnerOptions, 'logs' | 'log' | 'processes'> {
  journal: Journal;
}

/**
 * Puts the end on record, and only then lets the job say so. The exit files go when it is: a daemon
 * that finds no end reads them again.
 */
export async function settleJob(options: EndingOptions, job: Job, ending: Ending): Promise<void> {
  const { logs, log } = options;
  checkChange(job, ending.state);
  const ended: Job = { ...job, ...ending, logBytes: (await logs.size(job.id)) ?? 0 };
  delete ended.process;
  delete ended.verdict;
  const fault = await saveEnd(options, ended);
  delete job.process;
  delete job.verdict;
  Object.assign(job, ended);
  const { id, kind, subject, state, exitCode, error } = job;
  if (fault === undefined) {
    await logs.removeExitFiles(id).catch(failureTo(log, 'exit files not removed', { task: id }));
  } else {
    job.error = error === undefined ? fault : `${error}; ${fault}`;
  }
  log.info({ task: id, kind, subject, state, exitCode, error }, 'job ended');
}

/** @returns what could not be put on record, and what follows from that; undefined if all is */
async function saveEnd({ journal, log }: EndingOptions, ended: Job): Promise<string | undefined> {
  try {
    if ((await journal.saveEnd(ended)) === 'recorded') return undefined;
    log.error({ task: ended.id }, 'job record not written');
    return 'there was no room to record how it ended: a restart of depotd forgets it';
  } catch (error) {
    log.error({ task: ended.id, reason: reasonOf(error) }, 'job record not written');
    return `a restart of depotd may take it up again: ${reasonOf(error)}`;
  }
}

/** Stands for the holder of a job whose record does not name one. */
const NOBODY = { pid: 0, startTicks: 0, bootId: '', isOnTerminal: false };

/**
 * Says which records were set aside when the journal was opened, and ends what still runs of their
 * jobs, so that nothing runs beside it. Never throws.
 */
export async function endOrphans({ journal, log, processes }: EndingOptions): Promise<void> {
  for (const { id, number, damage } of journal.damaged) {
    log.error({ task: id, line: number, reason: damage }, 'job record set aside');
  }
  if (journal.damaged.length === 0) return;
  const live = await outlastShortage(processes.jobsUnderWay).catch(() => new Set<string>());
  const orphans = journal.damaged.filter(({ id, isOver }) => !isOver && live.has(id));
  await Promise.all(orphans.map(({ id }) => endProcesses(processes, { jobId: id, mark: NOBODY })));
}
