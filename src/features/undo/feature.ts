import { createConfirmOrBack, type ConfirmOrBack } from '../../jobs/confirm-or-back.ts';
import { DepotError } from '../../errors.ts';
import { isEnded, type Job } from '../../jobs/job.ts';
import type { Queue } from '../../jobs/queue.ts';
import { whenEnded } from '../../jobs/when-ended.ts';
import { PACKAGE_LANE } from '../../package-management/manager.ts';
import type { PackageTools } from '../../package-management/package-tools.ts';
import { replaced } from '../../package-management/undo/undo-record.ts';
import type { Feature, FeatureContext, TaskNotes } from '../feature.ts';
import { retriedStart } from '../../jobs/retried-start.ts';
import {
  isUndoable,
  obstacleTo,
  readUndoState,
  wholeObstacleTo,
  type UndoState,
} from './undo-obstacles.ts';
import { undoPlan } from './plan.ts';
import type { UndoPreview } from './undo-preview.ts';
import { undoRoutes } from './routes.ts';

export interface UndoFeature extends Feature, TaskNotes {
  /** @throws DepotError not_found */
  preview: (id: string) => Promise<UndoPreview>;
  canUndo: (id: string) => Promise<boolean>;
}

/** Taking back what a task changed: when its owner asks, or when its owner cannot be reached. */
export function createUndoFeature(context: FeatureContext, tools: PackageTools): UndoFeature {
  const { queue } = context;
  const { undo, manager } = tools;
  const all = { ...tools, ...context };
  let state: UndoState | undefined;
  let hasStarted: () => void = () => undefined;
  // What an earlier daemon left is known from then on.
  const started = new Promise<void>((resolve) => (hasStarted = resolve));
  const refresh: UndoFeature['refresh'] = async (job) => {
    if (job !== undefined && !isUndoable(job)) return;
    await started;
    state = await readUndoState(all).catch(() => state);
  };
  const find = (id: string): Job => {
    const job = id === 'latest' ? queue.newest(PACKAGE_LANE) : queue.get(id);
    if (job !== undefined) return job;
    throw new DepotError('not_found', `cannot find the task ${id}`);
  };
  const confirmations = createConfirmations(context);
  const confirm: ConfirmOrBack['confirm'] = async (id) => {
    await started;
    const outcome = await confirmations.confirm(id);
    if (outcome === 'confirmed') await undo.release(id).catch(() => undefined);
    return outcome;
  };
  let hasBegun = false;
  const isNeeded = neededBy(queue, confirmations, () => hasBegun);
  undo.pinWhile((id) => {
    const job = queue.get(id);
    return job !== undefined && (!isEnded(job.state) || isNeeded(job));
  });
  queue.keepWhile(isNeeded);
  queue.onForget((id) => void undo.drop(id).catch(() => undefined));
  const endOf = queue.onChange((job) => {
    if (!needsCopies(job)) void undo.drop(job.id).catch(() => undefined);
  });
  const canUndo = async (id: string): Promise<boolean> => {
    const job = queue.get(id);
    if (job === undefined || !isUndoable(job)) return false;
    return (await wholeObstacleTo(job, all)) === undefined;
  };
  return {
    documentation: async () => (await import('./documentation.ts')).UNDO_DOCUMENTATION,
    routes: () => undoRoutes({ ...all, find, confirmations: { confirm } }),
    jobs: {
      undo: {
        lane: PACKAGE_LANE,
        admit: manager.assertUsable,
        title: (subject) => `undo ${subject === '' ? 'a task' : subject}`,
        plan: (job) => undoPlan(all, job),
      },
    },
    refresh,
    describe: (job) => {
      const by = confirmations.confirmBy(job.id);
      const undoable = isUndoable(job) && state && describeUndo(job, state, queue);
      return { ...undoable, ...(by !== undefined && { confirm_by: by }) };
    },
    preview: async (id) => (await import('./undo-preview.ts')).previewUndo(all, find(id)),
    ...{ canUndo, keepsUp: confirmations.isWaiting },
    start: retriedStart(async () => {
      await confirmations.start();
      hasStarted();
      hasBegun = true;
      // On a disk that cannot be written copies stay until another start.
      await undo.sweep((id) => needsCopies(queue.get(id))).catch(() => undefined);
    }, context),
    close: () => {
      endOf();
      confirmations.close();
    },
  };
}

/** A job that changed nothing, or that nobody can take back, needs no copies behind its end. */
function needsCopies(job: Job | undefined): boolean {
  return job !== undefined && (!isEnded(job.state) || replaced.find(job)?.undo.sum !== undefined);
}

/** Whether an ended job is still needed: it waits to be confirmed, or is being undone. */
function neededBy(
  queue: Pick<Queue, 'all'>,
  { isOpen }: Pick<ConfirmOrBack, 'isOpen'>,
  hasBegun: () => boolean,
): (job: Job) => boolean {
  return ({ id, params }) => {
    // An undo keeps what it replaces itself, and goes by what its task has kept.
    const isBeingUndone = queue.all().some((job) => isUndoOf(id)(job) && !isEnded(job.state));
    const mayWait = !hasBegun() && params.confirm_s !== undefined;
    return mayWait || isBeingUndone || isOpen(id);
  };
}

/** The judge is a request of the owner's. */
function createConfirmations({ queue, submit, ...context }: FeatureContext): ConfirmOrBack {
  return createConfirmOrBack({
    ...{ ...context, queue, note: 'to-confirm' },
    secondsOf: (job) => {
      const { packages = [], files = [] } = replaced.find(job)?.undo ?? {};
      const seconds = Number(job.params.confirm_s);
      return seconds > 0 && packages.length + files.length > 0 ? seconds : undefined;
    },
    back: async (job) => {
      let undo = queue.all().findLast(isUndoOf(job.id));
      if (undo === undefined || isToTryAgain(undo)) {
        const submission = await submit('undo', job.subject, { task_id: job.id });
        undo = 'job' in submission ? submission.job : undefined;
      }
      if (undo !== undefined) await whenEnded(undo, queue);
      if (undo !== undefined && isToTryAgain(undo)) {
        throw new DepotError('internal', `its undo ended: ${undo.error ?? ''}`);
      }
    },
  });
}

/**
 * The power went in the midst of it, somebody stopped it, others had the package manager all the
 * time, or the disk was full.
 */
function isToTryAgain({ state, errorCode = '' }: Job): boolean {
  return ['interrupted', 'stopped'].includes(state) || ['locked', 'no_space'].includes(errorCode);
}

function isUndoOf(id: string): (job: Job) => boolean {
  return ({ kind, params }) => kind === 'undo' && params.task_id === id;
}

function describeUndo(job: Job, state: UndoState, queue: FeatureContext['queue']): object {
  const back = queue.all().findLast(isUndoOf(job.id));
  if (back !== undefined && !isEnded(back.state)) {
    return { can_undo: false, no_undo: `Task ${back.id} is undoing it.` };
  }
  const obstacle = obstacleTo(job, state, queue);
  if (obstacle !== undefined) return { can_undo: false, no_undo: obstacle.reason };
  const { place } = replaced.read(job).undo;
  return { can_undo: true, ...(place !== undefined && { kept_in: place.kind }) };
}
