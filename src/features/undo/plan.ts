import { dirname, join } from 'node:path';
import * as v from 'valibot';
import { run } from '../../device/exec.ts';
import { isThere } from '../../device/is-there.ts';
import type { Job } from '../../jobs/job.ts';
import { slots } from '../../jobs/memory.ts';
import {
  plainAct,
  plainCommand,
  retryFrom,
  type Plan,
  type Step,
  type StepContext,
} from '../../jobs/plan.ts';
import type { Queue } from '../../jobs/queue.ts';
import {
  isPresent,
  knownByVersion,
  type PackageDatabase,
} from '../../package-management/database.ts';
import {
  dependentsFirst,
  isNeeded,
  withAskedNames,
} from '../../package-management/dependencies.ts';
import { failureError, type Failure } from '../../package-management/failure.ts';
import { chosen } from '../../package-management/transaction-slots.ts';
import type { PackageTools } from '../../package-management/package-tools.ts';
import { putBackSteps } from '../../package-management/transaction/put-back.ts';
import { reversalSteps } from '../../package-management/transaction/reversal.ts';
import { removalCommand } from '../../package-management/transaction/rollback.ts';
import {
  completeness,
  ONLY,
  transaction,
  type ChangeWork,
} from '../../package-management/transaction/transaction.ts';
import { putFileBack } from '../../package-management/undo/file-states.ts';
import { feedScope, FILES, settingsScope } from '../../package-management/undo/kept-folder.ts';
import { replaced, type ChangedPackage } from '../../package-management/undo/undo-record.ts';
import type { FeatureContext } from '../feature.ts';
import { filesToPutBack, wholeObstacleTo, type Obstacle } from './undo-obstacles.ts';

export interface UndoPlanTools
  extends PackageTools, Pick<FeatureContext, 'paths' | 'environment' | 'processes'> {
  queue: Pick<Queue, 'all' | 'get'>;
}

/** What an undo has decided on. */
const decided = slots('the undo', {
  filesBack: v.optional(v.array(v.string()), []),
  going: v.optional(v.array(v.string()), []),
});

/**
 * undo: puts back what a task replaced, and removes what came with it: packages, then the files
 * below /etc that are still as it left them, and the marks of the package manager.
 */
export function undoPlan(tools: UndoPlanTools, job: Job): Plan {
  const { manager, queue, undo } = tools;
  const purpose = `undo ${job.subject === '' ? 'the task' : job.subject}`;
  const target = (): Job => {
    const found = queue.get(job.params.task_id ?? '');
    if (found !== undefined) return found;
    throw failureError(purpose, { code: 'not_found', reason: 'there is no such task' });
  };
  const packages = (): readonly ChangedPackage[] => replaced.read(target()).undo.packages ?? [];
  const choose = async (context: StepContext): Promise<void> => {
    const obstacle = await wholeObstacleTo(target(), tools);
    if (obstacle !== undefined) throw failureError(purpose, refusal(obstacle));
    const { files } = await filesToPutBack(target(), manager);
    decided.write(context, { filesBack: files.map(({ path }) => path) });
    chosen.write(context, { names: [] });
    context.show(`undo ${target().command}`);
  };
  const work: ChangeWork = {
    verb: 'install',
    purpose,
    removesWhatCame: true,
    choose,
    replaces: () => ({
      verb: 'remove',
      names: packages().flatMap(({ name, after }) => (after === undefined ? [] : [name])),
    }),
    scope: () =>
      (packages().length > 0 ? settingsScope(tools.paths) : feedScope(manager, tools.paths))(),
    beforeCommand: [
      ...putBack(tools, target, 1),
      ...removal(tools, packages),
      ...putBack(tools, target, 2),
    ],
    judge: (after) => {
      const others = packages().filter((one) => !isAsBefore(after, one));
      if (others.length === 0) return undefined;
      const names = others.map(({ name }) => name);
      return { reason: `${names.join(', ')} is not as it was before`, names };
    },
    record: async (_, { job: own }) => {
      const kept = await undo.verify(target());
      const { filesBack } = decided.read(own);
      for (const file of replaced.read(target()).undo.files) {
        if (filesBack.includes(file.path)) await putFileBack(file, join(kept?.folder ?? '', FILES));
      }
      if (kept !== undefined) await (await manager.restoration()).finish(kept.records);
      await keepNeedless(tools, packages());
      // Answers after the undo's end have the marks as they are now.
      await tools.catalog.refresh();
      if (filesBack.some((path) => dirname(path) === tools.paths.uciDir)) await reload(tools);
    },
  };
  const { steps, repair } = transaction(tools, ONLY, work);
  const isComplete = completeness(tools, work);
  return { steps, repair: reversalSteps(tools, repair, { isComplete }) };
}

export function refusal({ reason, ...about }: Obstacle): Failure {
  return {
    ...about,
    code: 'not_allowed',
    reason: reason.replace(/\.$/, '').replace(/^[A-Z](?=[a-z])/, (first) => first.toLowerCase()),
    remedy: 'Undo or take back by hand what was done since, the newest first.',
  };
}

function isAsBefore(after: PackageDatabase, { name, before }: ChangedPackage): boolean {
  const entry = after.get(name);
  return before === undefined
    ? !isPresent(entry)
    : entry?.state === 'installed' && entry.version === before;
}

function putBack({ manager, undo }: UndoPlanTools, target: () => Job, round: 1 | 2): Step[] {
  const stateToRestore = (): PackageDatabase =>
    new Map(
      (replaced.read(target()).undo.packages ?? []).flatMap(({ name, before: version }) =>
        version === undefined ? [] : [[name, knownByVersion(name, { version })] as const],
      ),
    );
  const copies = () => undo.copiesOf(target());
  return putBackSteps({ manager, copies, stateToRestore }, round);
}

/**
 * What came as a dependency, and is not needed any more since what needed it was removed, stays
 * asked for: the package manager's next change would remove it, and nobody asked for that.
 */
async function keepNeedless({ manager }: UndoPlanTools, packages: readonly ChangedPackage[]) {
  const database = await manager.installed();
  for (const { name } of packages) {
    const entry = database.get(name);
    if (entry?.isAuto !== true || isNeeded(database, entry, new Set())) continue;
    // A hold that is let go with `isAuto: false` leaves the package asked for.
    if (entry.isHeld !== true) await manager.setHold(name, { isHeld: true });
    await manager.setHold(name, { isHeld: false, isAuto: false });
  }
}

/** What came with the task goes. */
function removal({ manager }: UndoPlanTools, packages: () => readonly ChangedPackage[]): Step[] {
  const { around } = manager;
  const prepare = plainAct('prepare-removal', 'prepare', async (context) => {
    const database = await manager.installed();
    const names = packages()
      .filter(({ name, before }) => before === undefined && isPresent(database.get(name)))
      .map(({ name }) => name);
    const came = withAskedNames(database, dependentsFirst(database, names));
    decided.write(context, { going: came });
    if (came.length > 0) await around.beforeRepair(context, { came: [], half: [] });
  });
  return [
    prepare,
    plainCommand('remove-what-came', 'remove', (context) =>
      removalCommand(manager, decided.read(context).going),
    ),
    plainAct('judge-removal', 'check the result', async (context) => {
      const isGoing = decided.read(context).going.length > 0;
      return isGoing && (await around.wasShutOut(context)) ? retryFrom(prepare) : undefined;
    }),
  ];
}

/** Services whose settings changed take them in, as OpenWrt has it after a change of settings. */
async function reload({ paths, environment }: UndoPlanTools): Promise<void> {
  const program = paths.onDevice('/sbin/reload_config');
  if (!paths.isLive || !(await isThere(program))) return;
  const limits = { timeoutMs: 60_000, maxBytes: 64 * 1024 };
  await run({ argv: [program], environment }, limits).catch(() => undefined);
}
