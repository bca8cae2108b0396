import { DepotError, reasonOf } from '../errors.ts';
import type { Processes } from '../device/ports.ts';
import type { Log } from '../log.ts';
import { waitForExit, type Exit } from './exit-file.ts';
import {
  unixNow,
  type Act,
  type CommandStep,
  type Job,
  type Plan,
  type Step,
  type StepContext,
  type Verdict,
} from './job.ts';
import { ownLine, type TaskLogs } from './log.ts';
import { watchPercent } from './percent.ts';
import { contextOf } from './step-context.ts';
import { endCommand } from './stopping.ts';

/**
 * Takes one job through its plan. Invariants:
 *  - what is about to happen is on record before it happens: the state before the first step, a
 *    command's holder before the command;
 *  - a job taken up again goes on at its step: a live command is waited for, a left exit code is
 *    read, an act is done again;
 *  - under another boot the job is `interrupted`, and only its repair runs;
 *  - a job that did not end well is repaired before it ends, and a repair that fails is told, not
 *    repeated;
 *  - a job taken up three times without a step getting done fails;
 *  - where there is no room for records nothing new begins, but what runs is waited for, and
 *    repaired as far as it goes without.
 */
export interface Runner {
  /** Runs or goes on running the job until it has ended; never throws. */
  run: (job: Job) => Promise<void>;
  /** Asks a running job to stop; it ends in its own time. */
  stop: (job: Job) => void;
}

export interface RunnerOptions {
  processes: Processes;
  logs: TaskLogs;
  log: Log;
  planOf: (job: Job) => Plan;
  save: (job: Job) => Promise<void>;
}

const MOST_RESUMES = 3;
/**
 * A repair undoes; a command of it that hangs (a script that stops a service, say) must not hold
 * the lane for ever.
 */
const REPAIR_LIMIT_MS = 5 * 60_000;
/** Exit code of a job that ended without one of its own: 128 + SIGTERM, as its readers know it. */
export const ENDED_WITHOUT_CODE = 143;

export function createRunner(options: RunnerOptions): Runner {
  const aborts = new Map<string, AbortController>();
  return {
    run: async (job) => {
      const abort = new AbortController();
      aborts.set(job.id, abort);
      if (job.stopRequested === true) abort.abort();
      try {
        await enter(options, job);
        const run: Run = { ...options, job, plan: options.planOf(job), abort };
        while (await advance(run));
      } catch (error) {
        options.log.error({ task: job.id, reason: reasonOf(error) }, 'job broke off');
        end(job, { state: 'failed', error: reasonOf(error), exitCode: 1 });
      } finally {
        aborts.delete(job.id);
      }
    },
    stop: (job) => {
      job.stopRequested = true;
      aborts.get(job.id)?.abort();
    },
  };
}

interface Run extends RunnerOptions {
  job: Job;
  plan: Plan;
  abort: AbortController;
}

/** Puts the start, or that the job is taken up again, on record. */
async function enter(options: RunnerOptions, job: Job): Promise<void> {
  const { processes, logs, save } = options;
  const isNew = job.state === 'queued';
  // At once: from here on nobody may drop it as one that waits, and whoever is told of it finds it
  // running.
  if (isNew) Object.assign(job, { state: 'running', startedAt: unixNow() });
  const bootId = await processes.bootId();
  if (isNew) {
    job.bootId = bootId;
    await logs.create(job.id);
    logs.wake(job.id);
    await save(job);
    return;
  }
  job.resumes += 1;
  if (job.bootId !== bootId) {
    const verdict: Verdict = {
      state: 'interrupted',
      error: 'the device went down while the job was running',
      exitCode: ENDED_WITHOUT_CODE,
    };
    // The log may have gone with a tmpfs; then this is all there is.
    await logs.append(job.id, ownLine(verdict.error)).catch(() => undefined);
    beginRepair(job, job.verdict ?? verdict);
    job.bootId = bootId;
  } else if (job.resumes >= MOST_RESUMES && job.phase === 'steps') {
    beginRepair(job, {
      state: 'failed',
      error: `cannot get on: taken up ${job.resumes} times without a step getting done`,
      exitCode: 1,
    });
  }
  await saveIfPossible(options, job);
}

/** For what goes on in any case. */
async function saveIfPossible({ save, log }: RunnerOptions, job: Job): Promise<void> {
  await save(job).catch((error: unknown) =>
    log.error({ task: job.id, reason: reasonOf(error) }, 'job record not written'),
  );
}

/** Does one step. @returns whether there is more to do */
async function advance(run: Run): Promise<boolean> {
  const { job, plan } = run;
  const step = plan[job.phase][job.step];
  if (step === undefined || (job.phase === 'repair' && job.resumes >= MOST_RESUMES)) {
    end(job, job.verdict);
    return false;
  }
  try {
    const again = await takeStep(run, step);
    job.step =
      again === undefined ? job.step + 1 : plan[job.phase].findIndex(({ name }) => name === again);
    job.resumes = 0;
    if ('act' in step && step.isRecorded === true) await run.save(job);
  } catch (error) {
    await fail(run, error);
  }
  delete job.process;
  return true;
}

async function takeStep(run: Run, step: Step): Promise<string | undefined> {
  const context = contextOf(run, step);
  if (isToStop(run, step) && run.job.process === undefined) throw stopped();
  if ('act' in step) return takeAct(run, step, context);
  await runCommand(run, step, context);
  return undefined;
}

async function takeAct(run: Run, step: Act, context: StepContext): Promise<string | undefined> {
  try {
    const next = await step.act(context);
    Object.assign(run.job.memory, context.memory);
    return next?.again;
  } catch (error) {
    throw isToStop(run, step) ? stopped() : error;
  }
}

/**
 * A failure of the plan begins the repair; one of the repair is told, and the repair goes on with
 * its next step.
 */
async function fail(run: Run, error: unknown): Promise<void> {
  const { job, logs } = run;
  const reason = reasonOf(error);
  await logs.append(job.id, ownLine(reason)).catch(() => undefined);
  if (job.phase === 'repair') {
    job.step += 1;
    return;
  }
  const exitCode =
    job.lastExitCode === undefined || job.lastExitCode === 0 ? undefined : job.lastExitCode;
  if (error instanceof Stopped) {
    beginRepair(job, { state: 'stopped', error: reason, exitCode: exitCode ?? ENDED_WITHOUT_CODE });
  } else beginRepair(job, { state: 'failed', error: reason, exitCode: exitCode ?? 1 });
  await saveIfPossible(run, job);
}

function beginRepair(job: Job, verdict: Verdict): void {
  // Getting to the repair is progress; getting to it again after another boot is none.
  if (job.phase === 'steps') job.resumes = 0;
  Object.assign(job, { phase: 'repair', step: 0, verdict });
  delete job.process;
}

function end(job: Job, verdict: Verdict | undefined): void {
  Object.assign(job, {
    state: verdict?.state ?? 'done',
    exitCode: verdict?.exitCode ?? 0,
    stoppedAt: unixNow(),
  });
  if (verdict !== undefined) job.error = verdict.error;
  delete job.process;
  delete job.verdict;
}

/** The repair of a job that was stopped is not stopped. */
function isToStop({ job, abort }: Run, { isLate }: Step): boolean {
  return job.phase === 'steps' && isLate !== true && abort.signal.aborted;
}

/** Somebody asked for the stop, so it is no failure. */
class Stopped extends Error {}

function stopped(): Stopped {
  return new Stopped('stopped on request');
}

async function runCommand(run: Run, step: CommandStep, context: StepContext): Promise<void> {
  const { job, logs } = run;
  const watch = watchPercent(step, { job, logs });
  const exit = await exitOf(run, step, context).finally(watch.end);
  if (exit === undefined) return;
  if (exit === 'not-run') {
    throw new DepotError(
      'internal',
      `cannot start ${step.name}: the daemon went down before it was to run`,
    );
  }
  job.lastExitCode = exit.exitCode;
  if (isToStop(run, step) && exit.exitCode !== 0) throw stopped();
  if (step.mustSucceed && exit.exitCode !== 0) {
    throw new DepotError('command_failed', `cannot ${step.name}: exit code ${exit.exitCode}`);
  }
}

/** @returns undefined where the step has nothing to run */
async function exitOf(
  run: Run,
  step: CommandStep,
  context: StepContext,
): Promise<Exit | undefined> {
  const { job } = run;
  if (job.process === undefined) return startAndWait(run, step, context);
  const exit = await waitForCommand(run, step);
  if (exit !== 'not-run') return exit;
  // The daemon that prepared it died before it said go, so nothing has happened yet.
  delete job.process;
  return startAndWait(run, step, context);
}

async function startAndWait(
  run: Run,
  step: CommandStep,
  context: StepContext,
): Promise<Exit | undefined> {
  const { job, processes, logs, save } = run;
  const command = await step.command(context);
  if (command === undefined) return undefined;
  job.runs += 1;
  job.outputFrom = (await logs.size(job.id)) ?? 0;
  const held = await processes.start({
    jobId: job.id,
    command,
    logFile: logs.fileOf(job.id),
    exitFile: logs.exitFileOf(job.id, job.runs),
  });
  job.process = held.mark;
  await save(job).catch((error: unknown) => {
    held.drop();
    throw error;
  });
  held.go();
  return waitForCommand(run, step, held.ended);
}

async function waitForCommand(run: Run, step: CommandStep, ended?: Promise<void>): Promise<Exit> {
  const { job, processes, logs, abort } = run;
  const mark = job.process;
  if (mark === undefined) return 'not-run';
  const stop = (): void => void endCommand(processes, { jobId: job.id, mark });
  if (isToStop(run, step)) stop();
  if (step.isLate !== true) abort.signal.addEventListener('abort', stop, { once: true });
  const limit = job.phase === 'repair' ? setTimeout(stop, REPAIR_LIMIT_MS) : undefined;
  try {
    const file = logs.exitFileOf(job.id, job.runs);
    return await waitForExit({
      file,
      pid: mark.pid,
      isAlive: () => processes.isAlive(mark),
      ...(ended === undefined ? {} : { ended }),
    });
  } finally {
    clearTimeout(limit);
    abort.signal.removeEventListener('abort', stop);
  }
}
