import type { Paths } from '../../device/paths.ts';
import { DepotError } from '../../errors.ts';
import type { ChangePreview } from '../../package-management/change-preview.ts';
import { readListsState } from '../../package-management/failed-feeds.ts';
import type { PackageManager } from '../../package-management/manager.ts';
import { createProblem, PROBLEM_CODES } from '../../package-management/problem.ts';
import type { ReportLine } from '../../package-management/transaction/report-line.ts';
import { comesBack, NOT_OFFERED } from './comes-back.ts';
import { filesToWrite } from './write-back.ts';
import { readSet } from './read-set.ts';
import type { Sets } from './sets.ts';

export type RestorePreview = ChangePreview & {
  restore: { report: readonly ReportLine[]; files: readonly string[] };
};

/** What a restore would do: nothing is fetched, unpacked or changed. */
export async function previewRestore(
  { manager, paths, sets }: { manager: PackageManager; paths: Paths; sets: Sets },
  { backup, as }: { backup: string; as?: string | undefined },
): Promise<RestorePreview> {
  const set = await readSet((await sets.find(backup)).file);
  const isNew = as === 'new';
  const files = await filesToWrite(paths, set, { isNew, manager: manager.name });
  const plan = {
    changes: [],
    problems: [],
    isPossible: true,
    freeBytes: await manager.freeBytes(),
    restore: { report: [], files: files.map(({ path }) => path) },
  };
  try {
    const { report, names } = await comesBack(manager, set);
    const restore = { ...plan.restore, report: await asFarAsKnown(manager, report) };
    if (names.length === 0) return { ...plan, restore };
    const preview = await manager.preview({ verb: 'install', names });
    const { changes, changesWithRoom = changes } = preview;
    return { ...plan, restore, changes: changesWithRoom };
  } catch (error) {
    if (!(error instanceof DepotError)) throw error;
    const code = PROBLEM_CODES.find((each) => each === error.explanation?.code) ?? 'unknown';
    return { ...plan, isPossible: false, problems: [createProblem(code, error.message)] };
  }
}

const LISTS_FIRST = 'if a feed offers it: the package lists are fetched first';

/** Without lists, as after a boot, nobody knows what the feeds offer until the task has them. */
async function asFarAsKnown(
  { feeds }: PackageManager,
  report: readonly ReportLine[],
): Promise<readonly ReportLine[]> {
  if (report.every(({ message }) => message !== NOT_OFFERED)) return report;
  if ((await readListsState(feeds)).state !== 'missing') return report;
  return report.map((line) =>
    line.message === NOT_OFFERED ? { ...line, state: 'back', message: LISTS_FIRST } : line,
  );
}
