import { DepotError } from '../../errors.ts';
import { sizeText } from '../../format-bytes.ts';
import {
  plainCommand,
  recordedAct,
  retryFrom,
  type Jump,
  type Step,
  type StepContext,
} from '../../jobs/plan.ts';
import { EXPLAINED_BYTES } from '../../package-management/failure.ts';
import { failureIn, targetFull, type DiskFailure } from './disk-failure.ts';
import type { ContainerHost } from './host.ts';
import type { LongPath } from './locations.ts';
import { longPathText } from './reasons-against.ts';
import { move } from './move-record.ts';
import type { CopyPass } from './rsync/rsync.ts';
import * as moves from './target-folder.ts';

/** A pass that has ended, to be judged. */
interface Judging {
  host: ContainerHost;
  context: StepContext;
  label: string;
  target: string;
}

interface Pass {
  id: string;
  label: string;
  judge: (judging: Judging) => Promise<Jump | undefined>;
}

const PASSES: Readonly<Record<CopyPass, Pass>> = {
  live: { id: 'copy-live', label: 'copy', judge: judgeLive },
  changed: { id: 'copy-changed', label: 'copy what has changed', judge: judgeChanged },
  differing: { id: 'copy-differing', label: 'copy what differs', judge: judgeExit },
  compare: { id: 'compare', label: 'compare', judge: judgeCompare },
};

/** One pass of the copy, and what judges it. */
export function passSteps(host: ContainerHost, target: string, pass: CopyPass): Step[] {
  const { copier } = host;
  const { id, label, judge } = PASSES[pass];
  const copy = plainCommand(id, label, async (context) => {
    await moves.need(target, context.job.id);
    const { source, bytes, isThorough } = move.read(context);
    if (pass === 'differing' && !isThorough) return undefined;
    return copier.command(pass, { source, target, totalBytes: pass === 'live' ? bytes : 0 });
  });
  return [
    { ...copy, ...(pass === 'live' && { percentIn: copier.percentIn }) },
    recordedAct(`judge-${id}`, `judge: ${label}`, (context) =>
      judge({ host, context, label, target }),
    ),
  ];
}

/** rsync(1): 24, files have vanished; 23, some were not copied: expected while containers work. */
const VANISHED = 24;
const PARTIAL = 23;

async function judgeLive(judging: Judging): Promise<undefined> {
  const { host, context, target } = judging;
  const { lastExitCode: code } = context.job;
  if (code === 0 || code === VANISHED) return;
  // A file system that is read-only now will be so in the last pass, when the engine is stopped.
  const known = failureIn(await context.lastPrinted(EXPLAINED_BYTES));
  if (code !== PARTIAL || known?.code === 'unavailable' || (await isFull(host, target))) {
    throw await failure(judging);
  }
  await moves.need(target, context.job.id);
  const long = await host.locations.longPath(move.read(context).source);
  // A path that is too long will fail the last pass as well, when the engine is stopped.
  if (long !== undefined) throw tooLong(judging.label, long);
  await context.note(
    'not everything could be copied while containers run; what is left is copied when ' +
      'they have stopped',
  );
}

function tooLong(label: string, path: LongPath): DepotError {
  return new DepotError('command_failed', `cannot ${label}: ${longPathText(path)}`);
}

/** What was not copied as changed is left to the pass over all: no container prevents a move. */
async function judgeChanged(judging: Judging): Promise<undefined> {
  const { host, context, target } = judging;
  const { lastExitCode: code } = context.job;
  if (code === 0) return;
  if ((code !== PARTIAL && code !== VANISHED) || (await isFull(host, target))) {
    throw await failure(judging);
  }
  await moves.need(target, context.job.id);
  await context.note('not everything that changed could be copied by itself; all is gone through');
  move.write(context, { isThorough: true });
}

async function judgeExit(judging: Judging): Promise<undefined> {
  if (judging.context.job.lastExitCode !== 0) throw await failure(judging);
}

/** A pass prints a line a per cent and some dozens of messages. */
const MOST_PRINTED = 256 * 1024;

/**
 * If something differs after what changed was copied (a renamed folder has changed, what is in it
 * has not), all is gone through once. @throws DepotError internal if it still differs
 */
async function judgeCompare(judging: Judging): Promise<Jump | undefined> {
  const { host, context, label } = judging;
  await judgeExit(judging);
  const report = host.copier.reportIn(await context.printed(MOST_PRINTED));
  if (report === undefined) {
    throw new DepotError('internal', `cannot ${label}: rsync did not say what it did`);
  }
  const { files, bytes, copied, differences } = report;
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
  return retryFrom(PASSES.differing);
}

async function failure({ host, context, label, target }: Judging): Promise<DepotError> {
  const { locations } = host;
  const { lastExitCode: code = -1, id } = context.job;
  if (!(await moves.isThere(target, id))) {
    return new DepotError(
      'unavailable',
      `cannot ${label}: what was copied to ${target} is gone; is its disk still mounted?`,
      { explanation: DISK_GONE },
    );
  }
  const known = failureIn(await context.lastPrinted(EXPLAINED_BYTES));
  const { bytes: neededBytes, source } = move.read(context);
  if ((await isFull(host, target)) || known?.code === 'no_space') {
    return targetFull(label, await locations.inspect(target), neededBytes);
  }
  const long = code === PARTIAL ? await locations.longPath(source) : undefined;
  return long === undefined ? rsyncFailed(label, code, known) : tooLong(label, long);
}

function rsyncFailed(label: string, code: number, known: DiskFailure | undefined): DepotError {
  const how = `rsync ${REASONS[code] ?? 'failed'}`;
  if (known === undefined) {
    const message = `cannot ${label}: ${how} (exit code ${code}), and printed nothing`;
    return new DepotError('command_failed', message);
  }
  const message = `cannot ${label}: ${how} (exit code ${code}): ${known.reason}`;
  return new DepotError(known.code, message, { explanation: known.explanation });
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

/** Free bytes so few that the copy of the next file fails. */
const FULL_BYTES = 4 * 1024 ** 2;

export async function isFull({ locations }: ContainerHost, target: string): Promise<boolean> {
  const { freeBytes, freeInodes = Infinity } = await locations.inspect(target);
  return freeBytes < FULL_BYTES || freeInodes < 16;
}
