import { setTimeout as delay } from 'node:timers/promises';
import { DepotError } from '../errors.ts';
import { outlastShortage } from '../device/shortage.ts';
import { KILLED, waitForExit, type Exit } from './exit-file.ts';
import { ownLine } from './task-logs.ts';
import type { Command } from '../device/command.ts';
import type { HeldProcess, ProcessMark } from '../device/ports.ts';
import type { CommandStep, StepContext } from './plan.ts';
import { isToStop, Stopped, type Run } from './run.ts';
import { contextOf } from './step-context.ts';
import { endProcesses } from './stopping.ts';
import type { Job } from './job.ts';

/**
 * A repair undoes; a command of it that hangs (a script that stops a service, say) must not hold
 * the lane for ever.
 */
const REPAIR_LIMIT_MS = 5 * 60_000;

export async function runCommand(run: Run, step: CommandStep, context: StepContext): Promise<void> {
  const { job } = run;
  const stopWatching = watchPercent(step, context, job);
  const stopSupervision = step.supervise?.(context);
  const exit = await exitOf(run, step, context).finally(() => {
    stopWatching();
    stopSupervision?.();
  });
  if (exit === undefined) return;
  if (exit === 'not-run') {
    const message = `cannot start ${step.label}: the daemon went down before it was to run`;
    throw new DepotError('internal', message);
  }
  const exitCode = exit === 'lost' ? KILLED : exit.exitCode;
  if (isSignalled(exitCode)) await endLeftOvers(run, exit);
  job.lastExitCode = exitCode;
  if (exitCode === 0) return;
  if (isToStop(run, step)) throw new Stopped();
  if (step.mustSucceed) {
    const failure = await step.failure?.(context);
    const text = `cannot ${step.label}: exit code ${exitCode}`;
    throw failure ?? new DepotError('command_failed', text);
  }
}

/** Whether a signal ended the command: a shell says 128 and the signal's number (up to 64). */
export function isSignalled(exitCode: number): boolean {
  return exitCode > 128 && exitCode <= 192;
}

/**
 * What a command started may outlive it if it was killed: a package's script may outlive its
 * package manager, rsync's other end its caller. The job ends it before it goes on, or it would run
 * beside the repair.
 */
async function endLeftOvers({ job, processes, logs }: Run, exit: Exit): Promise<void> {
  if (job.process === undefined) return;
  const target = { jobId: job.id, mark: job.process };
  if (exit === 'lost' && (await outlastShortage(() => processes.count(target))) > 0) {
    const text = 'the shell that waits for the command was killed; the command is ended, too';
    await logs.append(job.id, ownLine(text)).catch(() => undefined);
  }
  await endProcesses(processes, target);
}

/** @returns undefined if the step has nothing to run */
async function exitOf(run: Run, step: CommandStep, context: StepContext) {
  const { job } = run;
  if (job.process === undefined) return startAndWait(run, step, context);
  const exit = await waitForCommand(run, step);
  if (exit !== 'not-run') return exit;
  // The daemon that prepared it died before it said go, so nothing has happened yet.
  delete job.process;
  return startAndWait(run, step, context);
}

async function startAndWait(run: Run, step: CommandStep, context: StepContext) {
  const { job, logs, save } = run;
  // A step ahead of it that has nothing to run leaves it waiting.
  const isLogThere = (await logs.size(job.id)) !== undefined;
  const isReady = isLogThere && run.ready?.id === step.id;
  let held = isReady ? await claimReady(run, step.id) : undefined;
  if (held === undefined) {
    const command = await step.command(context);
    if (command === undefined) return undefined;
    await claimReady(run);
    held = await startHolder(run, command);
  }
  await run.printed;
  job.runs += 1;
  job.outputFrom = (await logs.size(job.id)) ?? 0;
  job.process = held.mark;
  await save(job).catch(async (error: unknown) => {
    await held.abandon();
    throw error;
  });
  delete run.isUnrecorded;
  // A stop that came since finds no command to end, only one that is about to begin.
  if (isToStop(run, step)) {
    await held.abandon();
    await endProcesses(run.processes, { jobId: job.id, mark: held.mark });
    throw new Stopped();
  }
  held.go();
  return waitForCommand(run, step, held.ended);
}

async function startHolder({ job, processes, logs }: Run, command: Command): Promise<HeldProcess> {
  await logs.keepFolders();
  return processes.start({
    jobId: job.id,
    command,
    logFile: logs.fileOf(job.id),
    exitFile: logs.exitFileOf(job.id, job.runs + 1),
  });
}

/** Starts the holder of a command step while what stands before it is done. */
export function makeReady(run: Run, id: string): void {
  const step = run.plan[run.job.phase].find((one) => one.id === id);
  if (run.ready !== undefined || step === undefined || 'act' in step) return;
  const start = async (): Promise<HeldProcess | undefined> => {
    const command = await step.command(contextOf(run, step));
    return command === undefined ? undefined : startHolder(run, command);
  };
  const held = start();
  // The step itself starts it once more, and tells why that fails.
  held.catch(() => undefined);
  run.ready = { id, held };
}

/**
 * Ends the holder that waits, if it is not that of the step.
 * @returns that of the step, unless somebody has ended it meanwhile
 */
export async function claimReady(run: Run, id?: string): Promise<HeldProcess | undefined> {
  const { ready } = run;
  delete run.ready;
  const held = await ready?.held.catch(() => undefined);
  const isAlive = held && (await run.processes.isAlive(held.mark).catch(() => true));
  if (ready?.id === id && isAlive === true) return held;
  await held?.abandon();
  return undefined;
}

/** What a command left running may print on, and is not waited for. */
const LAST_OUTPUT_MS = 2000;
const LOOK_MS = 5;

/** The exit code is there somewhat before the terminal, and with it the holder, has gone. */
async function hasGone({ processes }: Run, mark: ProcessMark, ended?: Promise<unknown>) {
  if (ended !== undefined) {
    await Promise.race([ended, delay(LAST_OUTPUT_MS, undefined, { ref: false })]);
    return;
  }
  const until = performance.now() + LAST_OUTPUT_MS;
  while (performance.now() < until && (await processes.isAlive(mark).catch(() => true))) {
    await delay(LOOK_MS);
  }
}

type Ended = HeldProcess['ended'];

async function waitForCommand(run: Run, step: CommandStep, ended?: Ended): Promise<Exit> {
  const { job, processes, logs, abort } = run;
  const mark = job.process;
  if (mark === undefined) return 'not-run';
  let ending: Promise<void> | undefined;
  const stop = (): void => {
    ending ??= endProcesses(processes, { jobId: job.id, mark });
  };
  const stopIfAsked = (): void => {
    if (isToStop(run, step)) stop();
  };
  stopIfAsked();
  abort.signal.addEventListener('abort', stopIfAsked, { once: true });
  const limit = job.phase === 'repair' ? setTimeout(stop, REPAIR_LIMIT_MS) : undefined;
  try {
    const isAlive = async (): Promise<boolean> => {
      // At its end the holder leaves the code there.
      await logs.keepFolders().catch(() => undefined);
      return processes.isAlive(mark);
    };
    const file = logs.exitFileOf(job.id, job.runs);
    const exit = await waitForExit({ file, pid: mark.pid, isAlive, ...(ended && { ended }) });
    run.isWritten = typeof exit === 'object' && exit.isWritten;
    run.printed = hasGone(run, mark, ended);
    // The command may go before what it started does.
    await ending;
    return exit;
  } finally {
    clearTimeout(limit);
    abort.signal.removeEventListener('abort', stopIfAsked);
  }
}

const READ_MS = 1000;
/** The end of the log that is read. */
const TAIL_BYTES = 4096;

/**
 * Keeps `job.percent` as the command's output has it. A command that another daemon started is read
 * as well.
 * @returns how to end that
 */
function watchPercent({ percentIn }: CommandStep, context: StepContext, job: Job): () => void {
  if (percentIn === undefined) return () => undefined;
  let hasEnded = false;
  const read = async (): Promise<void> => {
    // A log that is gone, with its tmpfs say, says nothing.
    const percent = percentIn(await context.lastPrinted(TAIL_BYTES).catch(() => ''), context);
    if (!hasEnded && percent !== undefined) job.percent = percent;
  };
  const timer = setInterval(() => void read(), READ_MS).unref();
  return () => {
    hasEnded = true;
    clearInterval(timer);
    delete job.percent;
  };
}
