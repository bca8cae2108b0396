import { plainAct, type Step, type StepContext } from '../../jobs/plan.ts';
import type { PackageDatabase } from '../database.ts';
import type { PackageTools } from '../package-tools.ts';
import { putBackSteps, reportPutBack, type PutBackTools } from './put-back.ts';
import { accepted, begun, type IsComplete } from './rollback.ts';

interface ReversedWork {
  isOfAll?: boolean;
  isComplete: IsComplete;
  /** Whether what came goes in the repair, which what is put back may need, or be excluded by. */
  isAroundRepair?: boolean;
}

/**
 * A failed change is taken back, to what was packed ahead of it. If that lay in memory, an upgrade
 * is finished behind a power cut instead. Of an upgrade of all only what is broken goes back.
 * @param repair of the change
 */
export function reversalSteps(
  tools: PackageTools,
  repair: readonly Step[],
  work: ReversedWork,
): Step[] {
  const putBack: PutBackTools = {
    manager: tools.manager,
    copies: (context) => tools.undo.copiesOf(context.job),
    stateToRestore: (context) => stateToRestore(tools, context, work),
  };
  const first = putBackSteps(putBack, 1);
  const report = plainAct('report-putting-back', 'report what was put back', (context) =>
    reportPutBack(putBack, context),
  );
  return work.isAroundRepair === true
    ? [...first, ...repair, ...putBackSteps(putBack, 2), report]
    : [...first, report, ...repair];
}

async function stateToRestore(
  { manager, undo }: PackageTools,
  context: StepContext,
  { isOfAll = false, isComplete }: ReversedWork,
): Promise<PackageDatabase | undefined> {
  const { job } = context;
  const isOver = job.runs === 0 || !begun.read(context).isBegun || accepted.read(context).isDone;
  // The repair removes the verdict if it finds the job done after all.
  if (isOver || job.verdict === undefined) return undefined;
  if ((await undo.copiesOf(job)).size === 0) return undefined;
  if (job.verdict.state === 'interrupted') {
    await manager.around.mend(context).catch(() => undefined);
    if (await isComplete(context)) return undefined;
  }
  const [before, now] = [await manager.around.databaseBefore(), await manager.installed()];
  if (before === undefined || !isOfAll) return before;
  return new Map([...before].filter(([name]) => now.get(name)?.state === 'unpacked'));
}
