import { DepotError } from '../../errors.ts';
import type { ContainerHost } from './device.ts';
import type { Job } from '../../jobs/job.ts';
import type { Act, Plan, Step, StepContext } from '../../jobs/plan.ts';
import { checkChange, checkMove } from './check.ts';
import { passSteps } from './copy-steps.ts';
import { sizeText } from '../../format-bytes.ts';
import { startEngine, stopEngine } from './engine-control.ts';
import { snapshotStep, needStopped, rememberStep } from './engine-snapshot.ts';
import { leftText, moveRepair } from './rollback.ts';
import type { MoveFacts } from './reasons-against.ts';
import { move } from './record.ts';

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
  const isCopy = params.overwrite !== 'chdir';
  return {
    steps: isCopy
      ? moveSteps(host, target, params.overwrite === 'true')
      : changeSteps(host, target),
    repair: moveRepair(host, target, { isCopy }),
  };
}

function moveSteps(host: ContainerHost, target: string, isOverwriting: boolean): Step[] {
  const differing = passSteps(host, {
    id: 'copy-differing',
    label: 'copy what differs',
    pass: 'differing',
    target,
  });
  return [
    snapshotStep(host),
    {
      id: 'check',
      label: 'check',
      isRecorded: true,
      act: (context) =>
        check(context, () => mayMove(host, target, { isOverwriting, isExact: true })),
    },
    {
      id: 'prepare',
      label: 'prepare',
      isRecorded: true,
      act: (context) => prepare(host, context, target),
    },
    ...passSteps(host, { id: 'copy-live', label: 'copy', pass: 'live', target }),
    rememberStep(host),
    stopStep(host),
    ...passSteps(host, {
      id: 'copy-changed',
      label: 'copy what has changed',
      pass: 'changed',
      target,
    }),
    ...differing,
    ...passSteps(host, {
      id: 'compare',
      label: 'compare',
      pass: 'compare',
      target,
      retry: differing[0],
    }),
    {
      id: 'place',
      label: 'put in place',
      isRecorded: true,
      act: (context) => placeCopy(host, context, target),
    },
    switchStep(host, target, { isCopy: true }),
    startStep(host, target, { isCopy: true }),
    {
      id: 'settle',
      label: 'finish',
      isLate: true,
      act: () => host.moves.finish(target).then(() => undefined),
    },
    {
      id: 'clean-up',
      label: 'clean up',
      isLate: true,
      mustSucceed: false,
      command: async () => host.copier.removal(await host.moves.finish(target)),
    },
    checkAgainStep(host, target, { isCopy: true }),
    { id: 'tell', label: 'report', isLate: true, act: (context) => report(host, context, target) },
  ];
}

function changeSteps(host: ContainerHost, target: string): Step[] {
  return [
    snapshotStep(host),
    {
      id: 'check',
      label: 'check',
      isRecorded: true,
      act: (context) => check(context, () => mayChange(host, target)),
    },
    rememberStep(host),
    stopStep(host),
    switchStep(host, target, { isCopy: false }),
    startStep(host, target, { isCopy: false }),
    checkAgainStep(host, target, { isCopy: false }),
    { id: 'tell', label: 'report', isLate: true, act: (context) => report(host, context, target) },
  ];
}

/** @throws DepotError bad_request with every reason */
export async function mayMove(
  host: ContainerHost,
  target: string,
  { isOverwriting, isExact }: { isOverwriting: boolean; isExact: boolean },
): Promise<MoveFacts> {
  const found = await checkMove(host, target, { isExact });
  if (found.result === 'bad') throw refusal(target, found.reasons);
  if (found.result === 'existed' && !isOverwriting) {
    throw refusal(target, [
      'there is something already; overwrite=true replaces it, overwrite=chdir uses it as it is',
    ]);
  }
  return found.facts;
}

/** @throws DepotError bad_request with every reason */
export async function mayChange(host: ContainerHost, target: string): Promise<MoveFacts> {
  const found = await checkChange(host, target);
  if (found.result === 'bad') throw refusal(target, found.reasons);
  return found.facts;
}

function refusal(target: string, reasons: string[]): DepotError {
  return new DepotError(
    'bad_request',
    `cannot move the container data to ${target}: ${reasons.join('; ')}`,
  );
}

async function check(
  { memory, note }: StepContext,
  may: () => Promise<MoveFacts>,
): Promise<undefined> {
  const { source, target, need } = await may();
  const bytes = need?.bytes ?? 0;
  move.write(
    { memory },
    {
      bytes,
      device: target.mount.device,
      ...(need === undefined ? {} : { heldBytes: need.heldBytes }),
    },
  );
  if (bytes > 0) {
    await note(
      `${sizeText(bytes)} to be copied from ${source.path}; ${sizeText(target.freeBytes)} are free`,
    );
  }
}

async function prepare(
  { moves, locations }: ContainerHost,
  { memory, job, note }: StepContext,
  target: string,
): Promise<undefined> {
  const { device } = move.read({ memory });
  const isStillThere = async (): Promise<boolean> =>
    (await locations.inspect(target)).mount.device === device;
  // Looked at before, so that nothing is made on the disk below, and after, so that nothing is
  // copied to it.
  if (!(await isStillThere())) throw unmounted(target);
  const { created, left } = await moves.prepare(target, job.id);
  if (left !== undefined) await note(leftText(left));
  if (created !== undefined) move.write({ memory }, { created });
  if (!(await isStillThere())) throw unmounted(target);
}

function unmounted(target: string): DepotError {
  return new DepotError('unavailable', `cannot use ${target}: its disk is not mounted any more`);
}

function stopStep(host: ContainerHost): Act {
  return {
    id: 'stop-engine',
    label: 'stop the engine',
    act: async (context) => {
      await stopEngine(host, move.read(context).source, context);
      return undefined;
    },
  };
}

async function placeCopy(
  host: ContainerHost,
  { memory, job }: StepContext,
  target: string,
): Promise<undefined> {
  const { setting, source } = move.read({ memory });
  await host.moves.need(target, job.id);
  await needStopped(host, source);
  await host.moves.redirect(target, [setting.path, source]);
  await host.moves.place(target, source);
}

function switchStep(host: ContainerHost, target: string, { isCopy }: { isCopy: boolean }): Act {
  return {
    id: 'switch',
    label: 'point the engine there',
    isRecorded: true,
    act: async ({ memory }) => {
      const { setting, source } = move.read({ memory });
      await needStopped(host, source);
      if (isCopy) await host.moves.noteSwitch(target);
      await host.settings.write(setting, target);
      return undefined;
    },
  };
}

function startStep(host: ContainerHost, target: string, { isCopy }: { isCopy: boolean }): Act {
  return {
    id: 'start-engine',
    label: 'start the engine',
    isRecorded: true,
    // What containers write there from now on is nowhere else.
    isLate: true,
    act: async (context) => {
      const { containers, device } = move.read(context);
      // An engine that finds no data root makes one: on the disk below, if the disk has gone.
      if (isCopy) await host.moves.need(target, context.job.id);
      else if ((await host.locations.inspect(target)).mount.device !== device) {
        throw unmounted(target);
      }
      await startEngine(
        host,
        {
          dataRoot: target,
          containers,
          mayLack: !isCopy,
          ...(isCopy ? { onAnswer: () => host.moves.noteRun(target, context.job.id) } : {}),
        },
        context,
      );
      move.write(context, { isDone: true });
      return undefined;
    },
  };
}

/** What has come up may have been killed while the rest was cleaned up. */
function checkAgainStep(host: ContainerHost, target: string, { isCopy }: { isCopy: boolean }): Act {
  return {
    id: 'look-again',
    label: 'check again',
    isLate: true,
    act: async (context) => {
      const { containers } = move.read(context);
      await startEngine(host, { dataRoot: target, containers, mayLack: !isCopy }, context);
      return undefined;
    },
  };
}

async function report(
  { locations }: ContainerHost,
  { memory, note }: StepContext,
  target: string,
): Promise<undefined> {
  const { setting, source, heldBytes } = move.read({ memory });
  const bytes = heldBytes ?? (await locations.usage(source)).bytes;
  await note(`the engine works in ${target}, and the containers run`);
  await note(
    `the disk of ${target} must be mounted before the engine starts: without it the engine ` +
      'would begin anew on the disk below',
  );
  await note(
    `the old data is still in ${setting.path} and holds ${sizeText(bytes)}; remove it when ` +
      'you no longer want it',
  );
}
