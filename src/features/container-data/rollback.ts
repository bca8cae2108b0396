import { isReadOnlyDisk } from '../../device/disk/disk-full.ts';
import { reasonOf } from '../../errors.ts';
import type { ContainerHost } from './device.ts';
import type { Act, Step, StepContext } from '../../jobs/plan.ts';
import { isFull } from './copy-steps.ts';
import { isSamePlace, startEngine, stopEngine, type EngineWanted } from './engine-control.ts';
import { move, type MoveRecord } from './record.ts';

/**
 * After a move that was stopped, failed or interrupted. Invariants:
 *  - the engine runs at the new place if the move is done, or if it turns out that it was;
 *    else at the old one;
 *  - the configuration is put back before the copy is taken out of its place, and neither while an
 *    engine works there. As long as it cannot be put back, its disk is waited for; in the end the
 *    copy stays in its place, and the engine works with it;
 *  - what the target held is back where it was;
 *  - a copy that an engine has worked with is left, and is not for the next try: what containers
 *    wrote in it is nowhere else;
 *  - any other copy stays for the next try, but not if somebody stopped the move or the disk is
 *    full.
 */
export function moveRepair(
  host: ContainerHost,
  target: string,
  { isCopy }: { isCopy: boolean },
): Step[] {
  type Work = (context: StepContext, record: MoveRecord) => Promise<void>;
  const step = (id: string, label: string, work: Work): Act => ({
    id,
    label,
    isRecorded: true,
    act: async (context) => {
      const record = move.find(context);
      if (record !== undefined && !record.isStuck) await work(context, record);
      return undefined;
    },
  });
  const undo = (id: string, label: string, work: Work): Act =>
    step(id, label, async (context, record) => (record.isDone ? undefined : work(context, record)));
  return [
    undo('look', 'look where the engine runs', (context, record) =>
      acceptNewPlace(host, context, { record, target, isCopy }),
    ),
    undo('stop-engine', 'stop the engine there', (context, record) =>
      leaveNewPlace(host, context, { record, target, isCopy }),
    ),
    {
      ...undo('restore-configuration', 'put the configuration back', async (_context, record) =>
        (await isSwitched(host, record, target))
          ? host.settings.restore(record.setting, target)
          : undefined,
      ),
      needsRoom: true,
    },
    undo('restore-target', 'put the target back', async (context, record) =>
      putTargetBack(host, context, { record, target, isCopy }).catch((error: unknown) => {
        // The engine does not wait for it.
        if (!isReadOnlyDisk(error)) throw error;
      }),
    ),
    undo('start-engine', 'start the engine where it was', (context, record) =>
      returnToOldPlace(host, context, { record, target }),
    ),
    undo('restore-target-later', 'put the target back', (context, record) =>
      putTargetBack(host, context, { record, target, isCopy }),
    ),
    step('settle', 'settle', async (_context, { isDone }) =>
      isCopy && isDone ? host.moves.finish(target).then(() => undefined) : undefined,
    ),
    {
      id: 'remove-copy',
      label: 'remove the copy',
      mustSucceed: false,
      command: async (context) => {
        const folder = isCopy ? await toRemove(host, context, target) : undefined;
        return folder === undefined ? undefined : host.copier.removal(folder);
      },
    },
    step('see-engine', 'see that the engine runs', async (context, record) => {
      await keepRunning(host, context, { record, target, isCopy });
      // What failed was the rest of the work, and by now that is done, too.
      if (record.isDone) context.callDone();
    }),
    step('tell', 'tell', (context, record) => report(host, context, { record, target, isCopy })),
  ];
}

interface Move {
  record: MoveRecord;
  target: string;
  isCopy: boolean;
}

/**
 * The device went down after the switch: the engine has come up with it, at the new place, and its
 * containers have been writing there since. Going back would lose that; if all is well the move
 * is done.
 */
async function acceptNewPlace(
  host: ContainerHost,
  context: StepContext,
  { record, target, isCopy }: Move,
): Promise<void> {
  if (context.job.verdict?.state !== 'interrupted' || !(await isSwitched(host, record, target))) {
    return;
  }
  if (isCopy && !(await host.moves.isThere(target, context.job.id))) return;
  try {
    await startEngine(
      host,
      {
        dataRoot: target,
        containers: record.containers,
        mayLack: !isCopy,
        ...(isCopy ? { onAnswer: () => host.moves.noteRun(target, context.job.id) } : {}),
      },
      context,
    );
    move.write(context, { isDone: true });
  } catch (error) {
    await context.note(reasonOf(error));
  }
}

async function isSwitched(
  { settings }: ContainerHost,
  { setting }: MoveRecord,
  target: string,
): Promise<boolean> {
  return setting.path !== target && (await settings.read()).path === target;
}

/**
 * Where the engine cannot be made to leave the new place it is let be there: one engine at one
 * place, and a configuration that says which.
 */
async function leaveNewPlace(
  host: ContainerHost,
  context: StepContext,
  { record, target, isCopy }: Move,
): Promise<void> {
  if (!(await isSwitched(host, record, target))) return;
  const { real } = await host.locations.inspect(target);
  await stopEngine(host, real, context).catch(async (error: unknown) => {
    move.write(context, { isStuck: true });
    await context.note(`${reasonOf(error)}; it stays at ${target}`);
  });
  if (isCopy && !(await host.moves.isThere(target, context.job.id))) {
    await context.note(await goneText(host, target));
  }
}

/**
 * Containers may have written to that disk before it went. And an engine that is started without it
 * begins anew on the disk below.
 */
async function goneText({ moves }: ContainerHost, target: string): Promise<string> {
  const { isEmpty } = await moves.inspect(target);
  const below = isEmpty
    ? ''
    : `. Without it the engine began anew in ${target} on the disk below: what it made there ` +
      'may be removed, but only while the other disk is not mounted';
  return (
    `the disk of ${target} went when the engine was to work there. What is on it stays; if ` +
    `containers have written to it, the next move says where that is${below}`
  );
}

/** Not while the engine is sent there, or works there all the same. */
async function putTargetBack(
  host: ContainerHost,
  { job, note }: StepContext,
  { record, target, isCopy }: Move,
): Promise<void> {
  const { moves, engine } = host;
  if (!isCopy || !(await moves.isThere(target, job.id))) return;
  if (await isSwitched(host, record, target)) return;
  const state = await engine.state();
  if (state.kind === 'answers' && (await isSamePlace(host, state.dataRoot, target))) return;
  const left = await moves.restore(target);
  if (left !== undefined) await note(leftText(left));
}

export function leftText(left: string): string {
  return (
    'containers may have run at the new place for a while: what they wrote there is in ' +
    `${left}, and nothing touches it; remove it when you do not need it`
  );
}

async function returnToOldPlace(
  host: ContainerHost,
  context: StepContext,
  { record, target }: Pick<Move, 'record' | 'target'>,
): Promise<void> {
  const { isStopping, hasRun, containers, setting } = record;
  if (!hasRun || (await isSwitched(host, record, target))) return;
  const isGone = (await host.engine.state()).kind === 'absent';
  if (!isStopping && !isGone) return;
  await startEngine(host, { dataRoot: setting.path, containers, mayCorrect: true }, context);
  await context.note(`the engine works in ${setting.path} as before`);
}

/**
 * Whatever became of the engine while all this was done: if it ran, it runs, and where its
 * configuration says.
 */
async function keepRunning(
  host: ContainerHost,
  context: StepContext,
  { record, target, isCopy }: Move,
): Promise<void> {
  const { hasRun, isStopping, containers, setting } = record;
  if (!hasRun || (!isStopping && (await host.engine.state()).kind !== 'absent')) return;
  const wanted = await engineWanted(host, context, { record, target, isCopy });
  try {
    // Without its disk it would begin anew on the disk below.
    if (wanted.onAnswer !== undefined) await host.moves.need(target, context.job.id);
    await startEngine(host, { ...wanted, containers, mayCorrect: true }, context);
  } catch (error) {
    await context.note(
      `the container engine is not as it was. It worked in ${setting.path} with ` +
        `${containers.map(({ name }) => name).join(', ') || 'no container'} running; its ` +
        `configuration names ${(await host.settings.read()).path}`,
    );
    throw error;
  }
}

async function engineWanted(
  host: ContainerHost,
  { job }: StepContext,
  { record, target, isCopy }: Move,
): Promise<Pick<EngineWanted, 'dataRoot' | 'mayLack' | 'onAnswer'>> {
  if (record.isDone) return { dataRoot: target, mayLack: !isCopy };
  if (!(await isSwitched(host, record, target))) return { dataRoot: record.setting.path };
  return isCopy
    ? { dataRoot: target, onAnswer: () => host.moves.noteRun(target, job.id) }
    : { dataRoot: target, mayLack: true };
}

async function toRemove(
  host: ContainerHost,
  { job, memory }: StepContext,
  target: string,
): Promise<string | undefined> {
  const record = move.find({ memory });
  if (record === undefined || record.isStuck) return undefined;
  if (record.isDone) return host.moves.finish(target);
  if (!(await host.moves.isThere(target, job.id))) return undefined;
  // What the target held may still be in there.
  if (!(await host.moves.isRestored(target))) return undefined;
  const folder = host.moves.folderIn(target);
  if ((await host.engine.holders(folder)).length > 0) return undefined;
  return job.verdict?.state === 'stopped' || (await isFull(host, target)) ? folder : undefined;
}

async function report(
  host: ContainerHost,
  { job, note }: StepContext,
  { record, target, isCopy }: Move,
): Promise<void> {
  if (record.isDone) {
    await note(`the engine works in ${target}; the old data is still in ${record.setting.path}`);
  } else if (await isSwitched(host, record, target)) {
    await note(
      `the engine stays in ${target}: its configuration cannot be put back. The old data is ` +
        `still in ${record.setting.path}`,
    );
  } else if (isCopy && (await host.moves.isThere(target, job.id))) {
    const folder = host.moves.folderIn(target);
    await note(
      (await host.moves.isRestored(target))
        ? `what was copied stays in ${folder} for the next try; it may be removed`
        : `what ${target} held is still in ${folder}: the next try puts it back`,
    );
  } else if (record.created !== undefined) {
    await host.moves.tidy(target, record.created);
  }
}
