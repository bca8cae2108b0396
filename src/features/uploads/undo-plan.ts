import { failureError } from '../../package-management/failure.ts';
import { isPresent, type PackageDatabase } from '../../package-management/database.ts';
import type { Job } from '../../jobs/job.ts';
import type { Plan, StepContext } from '../../jobs/plan.ts';
import {
  dependentsFirst,
  isNeeded,
  withAskedNames,
} from '../../package-management/dependencies.ts';
import {
  ONLY,
  remember,
  transaction,
  type ChangeWork,
} from '../../package-management/transaction/transaction.ts';
import { judgeRemoval } from '../../package-management/transaction/judgement.ts';
import type { PackageTools } from '../../package-management/package-tools.ts';
import type { RunRecords } from './run-records.ts';

/**
 * unrun: removes the packages that came with an upload and are still there, but none that is
 * essential or that another package needs, and then drops the record. What a program did beside
 * packages nobody knows, so that it stays.
 */
export function unrunPlan(tools: PackageTools & { records: RunRecords }, { params }: Job): Plan {
  const { manager, records } = tools;
  const id = params.id ?? '';
  const choose = async (context: StepContext): Promise<void> => {
    const { note } = context;
    const record = await records.find(id);
    if (record === undefined) {
      const reason = 'there is no such record';
      const remedy = 'Look at the list of uploads: it may be undone already.';
      throw failureError(`undo ${id}`, { code: 'not_found', reason, remedy });
    }
    const database = await manager.installed();
    const there = record.packages.filter((name) => isPresent(database.get(name)));
    const names = removable(database, there);
    const staying = there.filter((name) => !names.includes(name));
    if (staying.length > 0) await note(`${staying.join(', ')} stays: other packages need it`);
    if (names.length === 0) {
      await note(`nothing that came with ${record.file} is left to be removed`);
    }
    remember(context, manager, { verb: 'remove', names: withAskedNames(database, names) });
  };
  const work: ChangeWork = {
    verb: 'remove',
    purpose: `undo ${id}`,
    choose,
    judge: judgeRemoval,
    record: async (after) => {
      // What was there before, and was replaced, stays; feeds may upgrade it again. What has
      // become needless meanwhile stays asked for, or the next change would remove it.
      const { package: replaced, wasAuto = false } = (await records.find(id)) ?? {};
      if (replaced !== undefined) {
        const entry = after.get(replaced);
        const isAuto = wasAuto && entry !== undefined && isNeeded(after, entry, new Set());
        if (entry?.isHeld === true) await manager.setHold(replaced, { isHeld: false, isAuto });
      }
      await records.remove(id);
    },
  };
  return transaction(tools, ONLY, work);
}

/** Takes out, until nothing changes, what a package that stays needs. */
function removable(database: PackageDatabase, names: readonly string[]): string[] {
  let going = names.flatMap((name) => database.get(name) ?? []).filter((one) => !one.isEssential);
  for (;;) {
    const gone = new Set(going.map(({ name }) => name));
    const next = going.filter((entry) => !isNeeded(database, entry, gone));
    if (next.length === going.length) return dependentsFirst(database, [...gone]);
    going = next;
  }
}
