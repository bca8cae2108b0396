import { isDiskFull, isReadOnlyDisk } from '../../device/disk/disk-full.ts';
import { reasonOf } from '../../errors.ts';
import { plainCommand, recordedAct, type Step, type StepContext } from '../../jobs/plan.ts';
import { isFull } from './copy-steps.ts';
import { engineAtTarget, startEngine, stopEngine, type EngineWanted } from './engine-control.ts';
import { isBrokenSetting } from './engine/data-root-setting.ts';
import type { ContainerHost } from './host.ts';
import { isSamePlace } from './reasons-against.ts';
import { move, type MoveRecord } from './move-record.ts';
import * as moves from './target-folder.ts';
import { moveFolder } from './target-layout.ts';

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
  const repairIn = (context: StepContext, isStuck = false): Repair | undefined => {
    const record = move.find(context);
    if (record?.isStuck !== isStuck) return undefined;
    return { host, context, record, target, isCopy };
  };
  type Work = (repair: Repair) => Promise<void>;
  const step = (id: string, label: string, work: Work): Step => ({
    ...recordedAct(id, label, async (context) => {
      const repair = repairIn(context);
      if (repair !== undefined) await work(repair);
    }),
    waitsOut: isBrokenSetting,
  });
  const undo = (id: string, label: string, work: Work): Step =>
    step(id, label, async (repair) => (repair.record.isDone ? undefined : work(repair)));
  return [
    undo('look', 'look where the engine runs', acceptNewPlace),
    undo('stop-engine', 'stop the engine there', leaveNewPlace),
    // A step of its own: that the engine is stuck is on record before it is brought up.
    recordedAct('see-stuck-engine', 'see that the engine runs', async (context) => {
      const stuck = repairIn(context, true);
      if (stuck !== undefined) await keepRunning(stuck);
    }),
    {
      ...undo('restore-configuration', 'put the configuration back', async (repair) =>
        (await isSwitched(repair))
          ? host.settings.restore(repair.record.setting, target)
          : undefined,
      ),
      waitsOut: (error) => isDiskFull(error) || isBrokenSetting(error),
    },
    undo('restore-target', 'put the target back', async (repair) =>
      putTargetBack(repair).catch((error: unknown) => {
        // On a read-only disk the target stays as it is: the engine is brought back all the same.
        if (!isReadOnlyDisk(error)) throw error;
      }),
    ),
    undo('start-engine', 'start the engine where it was', returnToOldPlace),
    undo('restore-target-later', 'put the target back', putTargetBack),
    step('settle', 'settle', async ({ record }) => {
      if (isCopy && record.isDone) await moves.finish(target);
    }),
    plainCommand('remove-copy', 'remove the copy', async (context) => {
      const repair = isCopy ? repairIn(context) : undefined;
      const folder = repair && (await toRemove(repair));
      return folder === undefined ? undefined : host.copier.removal(folder);
    }),
    step('see-engine', 'see that the engine runs', async (repair) => {
      await keepRunning(repair);
      // What failed was the rest of the move, and by now that is done, too.
      if (repair.record.isDone) repair.context.callDone();
    }),
    step('tell', 'tell', report),
  ];
}

interface Repair {
  host: ContainerHost;
  context: StepContext;
  record: MoveRecord;
  target: string;
  isCopy: boolean;
}

/**
 * The device went down after the switch: the engine has come up at the new place, and its
 * containers write there. Going back would lose that; if all is well the move is done.
 */
async function acceptNewPlace(repair: Repair): Promise<void> {
  const { host, context, record, target, isCopy } = repair;
  const { id: jobId, verdict } = context.job;
  if (verdict?.state !== 'interrupted' || !(await isSwitched(repair))) return;
  if (isCopy && !(await moves.isThere(target, jobId))) return;
  const { containers } = record;
  try {
    await startEngine(host, { ...engineAtTarget(target, { jobId, isCopy }), containers }, context);
    move.write(context, { isDone: true });
  } catch (error) {
    await context.note(reasonOf(error));
  }
}

async function isSwitched({ host, record: { setting }, target }: Repair): Promise<boolean> {
  return setting.path !== target && (await host.settings.read()).path === target;
}

/**
 * Where the engine cannot be made to leave the new place it is let be there, and started behind
 * this if it does not run: one engine at one place, and a configuration that says which.
 */
async function leaveNewPlace(repair: Repair): Promise<void> {
  const { host, context, target, isCopy } = repair;
  if (!(await isSwitched(repair))) return;
  // A step that fails leaves nothing on record, and the log may be on a full disk.
  const note = (text: string): Promise<void> =>
    context.note(text).catch(() => context.addToError(text));
  const { real } = await host.locations.inspect(target);
  await stopEngine(host, real, context).catch(async (error: unknown) => {
    move.write(context, { isStuck: true });
    await note(`${reasonOf(error)}; it stays at ${target}`);
  });
  if (isCopy && !(await moves.isThere(target, context.job.id))) {
    await note(await goneText(target));
  }
}

/** Containers may have written to that disk. Without it an engine begins anew on the disk below. */
async function goneText(target: string): Promise<string> {
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

/** The target is not put back while the engine is sent there, or works there all the same. */
async function putTargetBack(repair: Repair): Promise<void> {
  const { host, context, target, isCopy } = repair;
  if (!isCopy || !(await moves.isThere(target, context.job.id))) return;
  if (await isSwitched(repair)) return;
  const state = await host.engine.state();
  const { inspect } = host.locations;
  if (state.kind === 'answers') {
    if (isSamePlace(await inspect(state.dataRoot), await inspect(target))) return;
  }
  const left = await moves.restore(target);
  if (left !== undefined) await context.note(leftText(left));
}

export function leftText(left: string): string {
  return (
    'containers may have run at the new place for a while: what they wrote there is in ' +
    `${left}, and nothing touches it; remove it when you do not need it`
  );
}

async function returnToOldPlace(repair: Repair): Promise<void> {
  const { host, context, record } = repair;
  const { isStopping, hasRun, containers, setting } = record;
  if (!hasRun || (await isSwitched(repair))) return;
  const isGone = (await host.engine.state()).kind === 'absent';
  if (!isStopping && !isGone) return;
  await startEngine(host, { dataRoot: setting.path, containers, mayCorrect: true }, context);
  await context.note(`the engine works in ${setting.path} as before`);
}

/** Whatever happened to the engine: if it ran, it runs, and where its configuration says. */
async function keepRunning(repair: Repair): Promise<void> {
  const { host, context, record, target } = repair;
  const { hasRun, isStopping, containers, setting } = record;
  if (!hasRun || (!isStopping && (await host.engine.state()).kind !== 'absent')) return;
  const wanted = await engineWanted(repair);
  try {
    // Without that disk mounted the engine would start anew in the empty folder beneath it.
    if (wanted.onAnswer !== undefined) await moves.need(target, context.job.id);
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

async function engineWanted(repair: Repair): Promise<Omit<EngineWanted, 'containers'>> {
  const { record, target, isCopy, context } = repair;
  if (record.isDone) return { dataRoot: target, mayLack: !isCopy };
  if (!(await isSwitched(repair))) return { dataRoot: record.setting.path };
  return engineAtTarget(target, { jobId: context.job.id, isCopy });
}

async function toRemove({ host, context, record, target }: Repair): Promise<string | undefined> {
  const { id, verdict } = context.job;
  if (record.isDone) return moves.finish(target);
  if (!(await moves.isThere(target, id))) return undefined;
  // What the target held may still be in there.
  if (!(await moves.isRestored(target))) return undefined;
  const { folder } = moveFolder(target);
  if ((await host.engine.holders(folder)).length > 0) return undefined;
  return verdict?.state === 'stopped' || (await isFull(host, target)) ? folder : undefined;
}

async function report(repair: Repair): Promise<void> {
  const { context, record, target, isCopy } = repair;
  const { job, note } = context;
  if (record.isDone) {
    await note(`the engine works in ${target}; the old data is still in ${record.setting.path}`);
  } else if (await isSwitched(repair)) {
    await note(
      `the engine stays in ${target}: its configuration cannot be put back. The old data is ` +
        `still in ${record.setting.path}`,
    );
  } else if (isCopy && (await moves.isThere(target, job.id))) {
    const { folder } = moveFolder(target);
    await note(
      (await moves.isRestored(target))
        ? `what was copied stays in ${folder} for the next try; it may be removed`
        : `what ${target} held is still in ${folder}: the next try puts it back`,
    );
  } else if (record.created !== undefined) {
    await moves.tidy(target, record.created);
  }
}
