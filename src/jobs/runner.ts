import { outlastShortage } from '../device/shortage.ts';
import { failureTo, reasonOf } from '../errors.ts';
import { createDiskWait } from './disk-wait.ts';
import { EXPLANATIONS, facts, failureFacts, sentence } from './explanation.ts';
import { checkChange, ENDED_WITHOUT_CODE, unixNow, type Job, type Verdict } from './job.ts';
import { ownLine } from './task-logs.ts';
import { checkPlan, indexOfJump, indexOfPosition, moveTo } from './position.ts';
import { plainCommand, type Act, type Jump, type Step, type StepContext } from './plan.ts';
import { isToStop, Stopped, type Run, type RunnerOptions } from './run.ts';
import { makeReady, runCommand, claimReady } from './run-command.ts';
import { contextOf } from './step-context.ts';
import { endProcesses, isUnderWay } from './stopping.ts';

/**
 * Runs one job through its plan. Invariants:
 *  - what is about to happen is on record before it happens: the state before the first step, a
 *    command's holder before the command;
 *  - a job that is resumed goes on at its step: a live command is waited for, a left exit code is
 *    read, an act is done again;
 *  - under another boot the job is `interrupted`, and only its repair runs; it is `done` if that
 *    finds that nothing was missing;
 *  - a job that did not end well is repaired before it ends, and a repair that fails is told, not
 *    repeated;
 *  - a repair waits for a disk that is read-only, for a while;
 *  - a job resumed three times without a step getting done fails; a command that goes on meanwhile
 *    is what the job waits for, so it does not count;
 *  - a job ends only when nothing of it lives: whoever gives it up ends its processes first;
 *  - a look that fails, or a call for which the system lacks descriptors, is made again;
 *  - if there is no room for records nothing new begins, but what runs is waited for, and
 *    repaired as far as it goes without.
 */
export function createRunner(options: RunnerOptions) {
  const aborts = new Map<string, AbortController>();
  return {
    /**
     * Runs or goes on running the job, and says how it has ended: the job itself says so when that
     * is on record. Never throws.
     */
    run: async (job: Job): Promise<Ending> => {
      const abort = new AbortController();
      aborts.set(job.id, abort);
      if (job.stopRequested === true) abort.abort();
      try {
        await enter(options, job);
        const outlastDisk = createDiskWait(options, job);
        const run: Run = { ...options, job, plan: options.planOf(job), abort, outlastDisk };
        checkPlan(run.plan);
        await findPosition(run);
        while (await advance(run));
        await run.printed;
        return endingOf(job.verdict);
      } catch (error) {
        options.log.error({ task: job.id, reason: reasonOf(error) }, 'job broke off');
        const { id: jobId, process: mark } = job;
        if (mark !== undefined) await endProcesses(options.processes, { jobId, mark });
        return endingOf({ state: 'failed', ...failureFacts(error), exitCode: 1 });
      } finally {
        aborts.delete(job.id);
      }
    },
    /** Asks a running job to stop; it ends in its own time. */
    stop: (job: Job): void => {
      job.stopRequested = true;
      aborts.get(job.id)?.abort();
    },
  };
}

export type Runner = ReturnType<typeof createRunner>;
export type Ending = Required<Pick<Job, 'state' | 'exitCode' | 'stoppedAt'>> &
  Pick<Job, 'error' | 'errorCode' | 'remedy'>;

const MOST_RESUMES = 3;
/** How long a step waits for descriptors before it fails. */
const SHORTAGE_LIMIT_MS = 10 * 60_000;

/** Puts the start, or that the job is resumed, on record. */
async function enter(options: RunnerOptions, job: Job): Promise<void> {
  const { processes, logs, save } = options;
  const isNew = job.state === 'queued';
  // The job runs at once: nobody may drop it as one that waits, and whoever hears of it finds it
  // running.
  if (isNew) {
    checkChange(job, 'running');
    Object.assign(job, { state: 'running', startedAt: unixNow() });
  }
  const bootId = await outlastShortage(processes.bootId);
  if (isNew) {
    job.bootId = bootId;
    processes.expectStart();
    await logs.create(job.id);
    logs.wake(job.id);
    await save(job);
    return;
  }
  const isOn = job.bootId === bootId && (await isCommandOn(options, job));
  if (!isOn) job.resumes += 1;
  if (job.bootId !== bootId) {
    const error = 'the device went down while the job was running';
    // The log may have gone with a tmpfs; then this is all there is.
    await logs.append(job.id, ownLine(error)).catch(() => undefined);
    if (job.phase === 'repair') job.isRepairCut = true;
    const why = facts(error, EXPLANATIONS.interrupted);
    const verdict = { state: 'interrupted', ...why, exitCode: ENDED_WITHOUT_CODE } as const;
    beginRepair(job, job.verdict ?? verdict);
    job.bootId = bootId;
  } else if (job.resumes >= MOST_RESUMES && job.phase === 'steps') {
    const error = `cannot get on: taken up ${job.resumes} times without a step getting done`;
    beginRepair(job, { state: 'failed', ...facts(error, EXPLANATIONS.unknown), exitCode: 1 });
  }
  await saveIfPossible(options, job);
}

async function isCommandOn({ processes }: RunnerOptions, job: Job): Promise<boolean> {
  const { id: jobId, process: mark } = job;
  return mark !== undefined && outlastShortage(() => isUnderWay(processes, { jobId, mark }));
}

/** Saves the job; a failure is logged alone, for work that goes on in any case. */
async function saveIfPossible({ save, log }: RunnerOptions, job: Job): Promise<void> {
  await save(job).catch(failureTo(log, 'job record not written', { task: job.id }));
}

/**
 * Puts a job that another version left where this version's plan has its step. What runs of a step
 * that is gone from the plan is waited for first.
 */
async function findPosition(run: Run): Promise<void> {
  const { job, logs } = run;
  const { at, phase } = job;
  if (at === undefined) return;
  const steps = run.plan[phase];
  try {
    moveTo(job, steps, indexOfPosition(job, steps));
    if (at === job.at) return;
    const next = job.stepLabel ?? 'its end';
    const text = `this version has no step "${at}": the job goes on at ${next}`;
    await logs.append(job.id, ownLine(text)).catch(() => undefined);
    // Another version has started it in a step that this version's plan lacks.
    const gone = plainCommand(at, at, () => undefined);
    if (job.process !== undefined) await runCommand(run, gone, contextOf(run, gone));
  } catch (error) {
    moveTo(job, steps, 0);
    // A repair is done from its beginning: its steps are safe to do again.
    if (phase === 'steps') await fail(run, error);
  }
  delete job.process;
}

/** Does one step. @returns whether there is more to do */
async function advance(run: Run): Promise<boolean> {
  const { job } = run;
  const steps = run.plan[job.phase];
  if (job.at === undefined) moveTo(job, steps, indexOfPosition(job, steps));
  const index = job.done.length;
  const step = steps[index];
  if (step === undefined || (job.phase === 'repair' && job.resumes >= MOST_RESUMES)) return false;
  try {
    const jump = await outlastShortage(() => doStep(run, step), SHORTAGE_LIMIT_MS);
    if (jump !== undefined) await claimReady(run);
    moveTo(job, steps, jump === undefined ? index + 1 : indexOfJump(steps, jump.retryFrom));
    job.resumes = 0;
    if ('act' in step && step.isRecorded === true) run.isUnrecorded = true;
  } catch (error) {
    await claimReady(run);
    await fail(run, error);
  }
  delete job.process;
  return true;
}

async function doStep(run: Run, step: Step): Promise<Jump | undefined> {
  const work = (): ReturnType<typeof runStep> => runStep(run, step);
  return run.job.phase === 'repair' ? run.outlastDisk(step, work) : work();
}

async function runStep(run: Run, step: Step): Promise<Jump | undefined> {
  const context = contextOf(run, step);
  if (isToStop(run, step) && run.job.process === undefined) throw new Stopped();
  if ('act' in step) return runAct(run, step, context);
  await runCommand(run, step, context);
  return undefined;
}

async function runAct(run: Run, step: Act, context: StepContext): Promise<Jump | undefined> {
  await recordDone(run);
  if (step.readies !== undefined) makeReady(run, step.readies);
  try {
    const next = await step.act(context);
    Object.assign(run.job.memory, context.memory);
    return next ?? undefined;
  } catch (error) {
    throw isToStop(run, step) ? new Stopped() : error;
  }
}

/** Saves a done step that was not recorded yet: at the latest when a command is to start. */
async function recordDone(run: Run): Promise<void> {
  if (run.isUnrecorded !== true) return;
  await (run.job.phase === 'repair' ? saveIfPossible(run, run.job) : run.save(run.job));
  delete run.isUnrecorded;
}

/** A failure of the plan begins the repair; one of the repair is logged, and the repair goes on. */
async function fail(run: Run, error: unknown): Promise<void> {
  const { job, logs } = run;
  const why = failureFacts(error);
  await run.printed;
  await logs.append(job.id, ownLine(why.error)).catch(() => undefined);
  if (job.phase === 'repair') {
    addToError(job, why.error);
    moveTo(job, run.plan.repair, job.done.length + 1);
    return;
  }
  const isStopped = error instanceof Stopped;
  const exitCode = job.lastExitCode || (isStopped ? ENDED_WITHOUT_CODE : 1);
  beginRepair(job, { state: isStopped ? 'stopped' : 'failed', ...why, exitCode });
  await saveIfPossible(run, job);
}

const REPAIR_FAILED = '; the repair failed: ';

/** Into the verdict: the log may lie on the disk that failed. Only the first reason counts. */
function addToError({ verdict }: Job, reason: string): void {
  if (verdict === undefined || verdict.error.includes(REPAIR_FAILED)) return;
  verdict.error = sentence(verdict.error + REPAIR_FAILED + reason);
}

function beginRepair(job: Job, verdict: Verdict): void {
  // Getting to the repair is progress; getting to it again after another boot is none.
  if (job.phase === 'steps') job.resumes = 0;
  Object.assign(job, { phase: 'repair', done: [], verdict });
  delete job.at;
  delete job.process;
}

function endingOf(verdict: Verdict | undefined): Ending {
  return { ...(verdict ?? { state: 'done', exitCode: 0 }), stoppedAt: unixNow() };
}
