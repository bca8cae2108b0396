import { DepotError } from '../../errors.ts';
import { sizeText } from '../../format-bytes.ts';
import type { ContainerHost, CopyPass, CopyReport, LongPath } from './device.ts';
import {
  retryFrom,
  type Act,
  type CommandStep,
  type Jump,
  type Step,
  type StepContext,
} from '../../jobs/plan.ts';
import { EXPLAINED_BYTES } from '../../package-management/failure.ts';
import { failureIn, targetFull, type DiskFailure } from './disk-failure.ts';
import { longPathText } from './reasons-against.ts';
import { move } from './record.ts';

interface Pass {
  id: string;
  label: string;
  pass: CopyPass;
  target: string;
  /** The step to go back to if this pass did not do it; by default the pass itself. */
  retry?: Step;
}

/** One pass of the copy, and what judges it. */
export function passSteps(
  host: ContainerHost,
  { id, label, pass, target, retry }: Pass,
): [CommandStep, Act] {
  const { copier, moves } = host;
  const command: CommandStep['command'] = async ({ job, memory }) => {
    await moves.need(target, job.id);
    const { source, bytes, isThorough } = move.read({ memory });
    if (pass === 'differing' && !isThorough) return undefined;
    return copier.command(pass, {
      source,
      folder: moves.folderIn(target),
      totalBytes: pass === 'live' ? bytes : 0,
    });
  };
  const judge = {
    live: judgeLive,
    changed: judgeChanged,
    differing: judgeExit,
    compare: judgeCompare,
  }[pass];
  const copy: CommandStep = {
    id,
    label,
    mustSucceed: false,
    command,
    ...(pass === 'live' ? { percentIn: copier.percentIn } : {}),
  };
  return [
    copy,
    {
      id: `judge-${id}`,
      label: `judge: ${label}`,
      isRecorded: true,
      act: (context) => judge(host, context, { label, target, retry: retry ?? copy }),
    },
  ];
}

interface Judging {
  label: string;
  target: string;
  retry: Step;
}

/**
 * rsync(1): 24, files have vanished; 23, some could not be copied. Both are to be expected while
 * containers work.
 */
const VANISHED = 24;
const PARTIAL = 23;

async function judgeLive(
  host: ContainerHost,
  context: StepContext,
  judging: Judging,
): Promise<Jump | undefined> {
  const { lastExitCode: code } = context.job;
  if (code === 0 || code === VANISHED) return undefined;
  if (code !== PARTIAL || (await isFull(host, judging.target))) {
    throw await failure(host, context, judging);
  }
  await host.moves.need(judging.target, context.job.id);
  const { isRetried, source } = move.read(context);
  const long = isRetried ? await host.locations.longPath(source) : undefined;
  // It would be in the way when the engine has been stopped, too.
  if (long !== undefined) throw tooLong(judging.label, long);
  await context.note(
    isRetried
      ? 'not everything could be copied while containers run; what is left is copied when ' +
          'they have stopped'
      : 'not everything could be copied; trying once more',
  );
  move.write(context, { isRetried: true });
  return isRetried ? undefined : retryFrom(judging.retry);
}

function tooLong(label: string, path: LongPath): DepotError {
  return new DepotError('command_failed', `cannot ${label}: ${longPathText(path)}`);
}

/**
 * What could not be copied as changed is left to the pass over all, which deletes whatever is in
 * the way: no container may make a move impossible.
 */
async function judgeChanged(
  host: ContainerHost,
  context: StepContext,
  judging: Judging,
): Promise<undefined> {
  const { lastExitCode: code } = context.job;
  if (code === 0) return;
  if ((code !== PARTIAL && code !== VANISHED) || (await isFull(host, judging.target))) {
    throw await failure(host, context, judging);
  }
  await host.moves.need(judging.target, context.job.id);
  await context.note('not everything that changed could be copied by itself; all is gone through');
  move.write(context, { isThorough: true });
}

async function judgeExit(
  host: ContainerHost,
  context: StepContext,
  judging: Judging,
): Promise<undefined> {
  if (context.job.lastExitCode !== 0) throw await failure(host, context, judging);
}

/**
 * If something differs after what changed was copied (a folder that was renamed has changed,
 * what is in it has not), all is gone through once.
 * @throws DepotError internal if the copy still is not what the source is
 */
async function judgeCompare(
  host: ContainerHost,
  context: StepContext,
  judging: Judging,
): Promise<Jump | undefined> {
  const { files, bytes, copied, differences } = await reportOf(host, context, judging);
  if (differences === 0 && copied === files) {
    await context.note(`${files} files of ${sizeText(bytes)} are the same on both sides`);
    return undefined;
  }
  if (move.read(context).isThorough) {
    throw new DepotError(
      'internal',
      `cannot trust the copy: ${differences} things differ from the source, which has ` +
        `${files}, the copy ${copied}; the log names the first`,
    );
  }
  move.write(context, { isThorough: true });
  return retryFrom(judging.retry);
}

async function reportOf(
  host: ContainerHost,
  context: StepContext,
  judging: Judging,
): Promise<CopyReport> {
  await judgeExit(host, context, judging);
  const report = host.copier.reportIn(await context.printed(MOST_PRINTED));
  if (report === undefined) {
    throw new DepotError('internal', `cannot ${judging.label}: rsync did not say what it did`);
  }
  return report;
}

/** A pass prints a line a per cent and some dozens of messages. */
const MOST_PRINTED = 256 * 1024;

async function failure(
  host: ContainerHost,
  { job, memory, lastPrinted }: StepContext,
  { label, target }: Judging,
): Promise<DepotError> {
  const { moves, locations } = host;
  if (!(await moves.isThere(target, job.id))) {
    return new DepotError(
      'unavailable',
      `cannot ${label}: what was copied to ${target} is gone; is its disk still mounted?`,
      { explanation: DISK_GONE },
    );
  }
  const { lastExitCode: code = -1 } = job;
  const known = failureIn(await lastPrinted(EXPLAINED_BYTES));
  if ((await isFull(host, target)) || known?.code === 'no_space') {
    const { bytes: neededBytes } = move.read({ memory });
    return targetFull(label, target, { ...(await locations.inspect(target)), neededBytes });
  }
  const long =
    code === PARTIAL ? await host.locations.longPath(move.read({ memory }).source) : undefined;
  if (long !== undefined) return tooLong(label, long);
  return rsyncFailed(label, code, known);
}

function rsyncFailed(label: string, code: number, known: DiskFailure | undefined): DepotError {
  const how = `rsync ${REASONS[code] ?? 'failed'}`;
  if (known === undefined) {
    const message = `cannot ${label}: ${how} (exit code ${code}), and printed nothing`;
    return new DepotError('command_failed', message);
  }
  const { reason, explanation } = known;
  const message = `cannot ${label}: ${how} (exit code ${code}): ${reason}`;
  return new DepotError(known.code, message, { explanation });
}

const DISK_GONE = {
  code: 'interrupted',
  remedy: 'Mount the disk of the target again, then start the task again.',
};

/** rsync(1), EXIT VALUES, and those of a shell. */
const REASONS: Record<number, string> = {
  1: 'does not know one of its options',
  3: 'could not open the source or the copy',
  10: 'lost its own other end',
  11: 'could not read or write a file',
  12: 'lost its own other end',
  20: 'was stopped',
  22: 'had too little memory',
  23: 'could not copy everything',
  24: 'found files gone that were there a moment before: somebody works in the data',
  127: 'could not be started',
  137: 'was killed',
  143: 'was stopped',
};

/** So little that the next file fails. */
const FULL_BYTES = 4 * 1024 ** 2;

export async function isFull({ locations }: ContainerHost, target: string): Promise<boolean> {
  const { freeBytes, freeInodes = Infinity } = await locations.inspect(target);
  return freeBytes < FULL_BYTES || freeInodes < 16;
}
