import { DepotError } from '../../errors.ts';
import type { Job } from '../../jobs/job.ts';
import { lateAct, plainAct, recordedAct, type Act, type Plan, type Step } from '../../jobs/plan.ts';
import { checkChange, checkMove } from './move-check.ts';
import { passSteps } from './copy-steps.ts';
import { sizeText } from '../../format-bytes.ts';
import { engineAtTarget, startEngine, stopEngine } from './engine-control.ts';
import { snapshotStep, needStopped, rememberStep } from './engine-snapshot.ts';
import type { ContainerHost } from './host.ts';
import { leftText, moveRepair } from './move-rollback.ts';
import type { MoveFacts } from './reasons-against.ts';
import { move } from './move-record.ts';
import * as moves from './target-folder.ts';

/**
 * migrate: copies while containers run, stops the engine for the rest, compares, and points the
 * engine at the copy. Until that is on disk nothing of the old place or of what the target held is
 * changed; the old data is never. `overwrite` is `true` to replace what the target holds, `chdir`
 * to copy nothing and only point the engine there.
 */
export function migratePlan(
  { container: host }: { container: ContainerHost },
  { subject: target, params }: Job,
): Plan {
  const { overwrite } = params;
  const isCopy = overwrite !== 'chdir';
  const task: Move = { host, target, isCopy };
  const ofCopy = (...steps: Step[]): Step[] => (isCopy ? steps : []);
  return {
    steps: [
      snapshotStep(host),
      checkStep(() => mayMove(host, target, { overwrite, isExact: true })),
      ...ofCopy(prepareStep(task), ...passSteps(host, target, 'live')),
      rememberStep(host),
      plainAct('stop-engine', 'stop the engine', (context) =>
        stopEngine(host, move.read(context).source, context),
      ),
      ...ofCopy(
        ...passSteps(host, target, 'changed'),
        ...passSteps(host, target, 'differing'),
        ...passSteps(host, target, 'compare'),
        placeStep(task),
      ),
      switchStep(task),
      startStep(task),
      ...ofCopy(...finishSteps(task)),
      checkAgainStep(task),
      reportStep(task),
    ],
    repair: moveRepair(host, target, { isCopy }),
  };
}

interface Move {
  host: ContainerHost;
  target: string;
  isCopy: boolean;
}

/** @throws DepotError bad_request with every reason */
export async function mayMove(
  host: ContainerHost,
  target: string,
  { overwrite = 'false', isExact }: { overwrite?: string | undefined; isExact: boolean },
): Promise<MoveFacts> {
  const found = await (overwrite === 'chdir'
    ? checkChange(host, target)
    : checkMove(host, target, { isExact }));
  if (found.result === 'bad') throw refusal(target, found.reasons);
  if (found.result === 'existed' && !['true', 'chdir'].includes(overwrite)) {
    throw refusal(target, [
      'there is something already; overwrite=true replaces it, overwrite=chdir uses it as it is',
    ]);
  }
  return found.facts;
}

function refusal(target: string, reasons: string[]): DepotError {
  const message = `cannot move the container data to ${target}: ${reasons.join('; ')}`;
  return new DepotError('bad_request', message);
}

function checkStep(may: () => Promise<MoveFacts>): Act {
  return recordedAct('check', 'check', async (context) => {
    const { source, target, need } = await may();
    const bytes = need?.bytes ?? 0;
    const { device } = target.mount;
    move.write(context, { bytes, device, ...(need && { heldBytes: need.heldBytes }) });
    if (bytes > 0) {
      await context.note(
        `${sizeText(bytes)} to be copied from ${source.path}; ` +
          `${sizeText(target.freeBytes)} are free`,
      );
    }
  });
}

function prepareStep(task: Move): Act {
  const { target } = task;
  return recordedAct('prepare', 'prepare', async (context) => {
    const { device } = move.read(context);
    // Looked at before, so that nothing is made on the disk below, and after, so that nothing is
    // copied to it.
    await needMounted(task, device);
    const { created, left } = await moves.prepare(target, context.job.id);
    if (left !== undefined) await context.note(leftText(left));
    if (created !== undefined) move.write(context, { created });
    await needMounted(task, device);
  });
}

async function needMounted({ host, target }: Move, device: string): Promise<void> {
  if ((await host.locations.inspect(target)).mount.device === device) return;
  throw new DepotError('unavailable', `cannot use ${target}: its disk is not mounted any more`);
}

function placeStep({ host, target }: Move): Act {
  return recordedAct('place', 'put in place', async (context) => {
    const { setting, source } = move.read(context);
    await moves.need(target, context.job.id);
    await needStopped(host, source);
    await moves.redirect(target, [setting.path, source]);
    await moves.place(target, source);
  });
}

function switchStep({ host, target, isCopy }: Move): Act {
  return recordedAct('switch', 'point the engine there', async (context) => {
    const { setting, source } = move.read(context);
    await needStopped(host, source);
    if (isCopy) await moves.noteSwitch(target);
    await host.settings.write(setting, target);
  });
}

function startStep(task: Move): Act {
  const { host, target, isCopy } = task;
  const step = recordedAct('start-engine', 'start the engine', async (context) => {
    const { containers, device } = move.read(context);
    const jobId = context.job.id;
    // An engine that finds no data root makes one: on the disk below, if the disk has gone.
    await (isCopy ? moves.need(target, jobId) : needMounted(task, device));
    const wanted = { ...engineAtTarget(target, { jobId, isCopy }), containers };
    await startEngine(host, wanted, context);
    move.write(context, { isDone: true });
  });
  // Too late for a stop: what containers write from now on is in the new place alone.
  return { ...step, isLate: true };
}

function finishSteps({ host, target }: Move): Step[] {
  return [
    lateAct('settle', 'finish', async () => {
      await moves.finish(target);
    }),
    {
      id: 'clean-up',
      label: 'clean up',
      isLate: true,
      mustSucceed: false,
      command: async () => host.copier.removal(await moves.finish(target)),
    },
  ];
}

/** What has come up may have been killed while the rest was cleaned up. */
function checkAgainStep({ host, target, isCopy }: Move): Act {
  return lateAct('look-again', 'check again', async (context) => {
    const { containers } = move.read(context);
    await startEngine(host, { dataRoot: target, containers, mayLack: !isCopy }, context);
  });
}

function reportStep({ host, target }: Move): Act {
  return lateAct('tell', 'report', async (context) => {
    const { setting, source, heldBytes } = move.read(context);
    const bytes = heldBytes ?? (await host.locations.usage(source)).bytes;
    await context.note(`the engine works in ${target}, and the containers run`);
    await context.note(
      `the disk of ${target} must be mounted before the engine starts: without it the engine ` +
        'would begin anew on the disk below',
    );
    await context.note(
      `the old data is still in ${setting.path} and holds ${sizeText(bytes)}; remove it when ` +
        'you no longer want it',
    );
  });
}
