import { reasonOf } from '../../errors.ts';
import type { Act, Step, StepContext } from '../../jobs/plan.ts';
import type { PackageDatabase } from '../database.ts';
import type { PackageManager } from '../manager.ts';
import { chosen } from '../memory.ts';
import type { KeptPackages } from './kept-packages.ts';
import { putBackSteps, reportPutBack, type PutBackTools } from './put-back.ts';
import { accepted, type IsComplete } from './rollback.ts';

export interface ReversalTools {
  manager: PackageManager;
  kept: KeptPackages;
}

/** One job at a time changes packages. */
const KEY = 'upgrade';

/** Ahead of the command of an upgrade: packs what it replaces. */
export function keepStep({ manager, kept }: ReversalTools): Act {
  return act('keep', 'keep the old versions', async (context) => {
    const { names } = chosen.read(context);
    const before = await manager.around.databaseBefore();
    await kept.forget();
    if (names.length === 0 || before === undefined) return;
    try {
      await kept.begin(KEY);
      await kept.keep({ key: KEY, change: { verb: 'upgrade', names }, before }, context);
    } catch (error) {
      await context.note(`there is no copy of what is upgraded: ${reasonOf(error)}`);
    }
  });
}

/**
 * A failed upgrade is taken back, to what was packed ahead of it. That lies in memory: behind a
 * power cut the upgrade is finished instead. Of an upgrade of all only what is broken goes back.
 * @param repair of the upgrade
 */
export function reversalSteps(
  tools: ReversalTools,
  repair: readonly Step[],
  work: { isOfAll: boolean; isComplete: IsComplete },
): Step[] {
  const putBack: PutBackTools = {
    ...tools,
    stateToRestore: (context) => stateToRestore(tools, context, work),
  };
  return [
    ...putBackSteps(putBack, KEY, 1),
    act('report-putting-back', 'report what was put back', (context) =>
      reportPutBack(putBack, context),
    ),
    ...repair,
    forgetKeptStep(tools),
  ];
}

/** At the end of an upgrade, however it ended. */
export function forgetKeptStep({ kept }: ReversalTools): Act {
  return act('forget-kept', 'clean up', () => kept.forget());
}

function act(id: string, label: string, work: (context: StepContext) => Promise<void>): Act {
  return { id, label, act: (context) => work(context).then(() => undefined) };
}

async function stateToRestore(
  { manager, kept }: ReversalTools,
  context: StepContext,
  { isOfAll, isComplete }: { isOfAll: boolean; isComplete: IsComplete },
): Promise<PackageDatabase | undefined> {
  const { job } = context;
  const isOver = job.runs === 0 || accepted.read(context).isDone;
  if (isOver || (await kept.find(KEY)).size === 0) return undefined;
  if (job.verdict?.state === 'interrupted') {
    await manager.around.mend(context).catch(() => undefined);
    if (await isComplete(context)) return undefined;
  }
  const [before, now] = [await manager.around.databaseBefore(), await manager.installed()];
  if (before === undefined || !isOfAll) return before;
  return new Map([...before].filter(([name]) => now.get(name)?.state === 'unpacked'));
}
