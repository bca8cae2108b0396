import { DepotError } from '../errors.ts';
import { waitForExit, type Exit } from './exit-file.ts';
import { watchPercent } from './percent.ts';
import type { CommandStep, StepContext } from './plan.ts';
import { isToStop, Stopped, type Run } from './run.ts';
import { endCommand } from './stopping.ts';

/**
 * A repair undoes; a command of it that hangs (a script that stops a service, say) must not hold
 * the lane for ever.
 */
const REPAIR_LIMIT_MS = 5 * 60_000;

export async function runCommand(run: Run, step: CommandStep, context: StepContext): Promise<void> {
  const { job, logs } = run;
  const watch = watchPercent(step, { job, logs });
  const exit = await exitOf(run, step, context).finally(watch.end);
  if (exit === undefined) return;
  if (exit === 'not-run') {
    throw new DepotError(
      'internal',
      `cannot start ${step.label}: the daemon went down before it was to run`,
    );
  }
  job.lastExitCode = exit.exitCode;
  if (isToStop(run, step) && exit.exitCode !== 0) throw new Stopped();
  if (step.mustSucceed && exit.exitCode !== 0) {
    throw new DepotError('command_failed', `cannot ${step.label}: exit code ${exit.exitCode}`);
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
