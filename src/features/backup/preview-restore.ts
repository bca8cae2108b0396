import type { Paths } from '../../device/paths.ts';
import { DepotError } from '../../errors.ts';
import type { ChangePreview } from '../../package-management/change-preview.ts';
import type { PackageManager } from '../../package-management/manager.ts';
import { createProblem, PROBLEM_CODES } from '../../package-management/problem.ts';
import { comesBack, type ReportLine } from './comes-back.ts';
import { filesToWrite } from './configuration.ts';
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
    const restore = { ...plan.restore, report };
    if (names.length === 0) return { ...plan, restore };
    const { changes, changesWithRoom = changes } = await manager.preview({
      verb: 'install',
      names,
    });
    return { ...plan, restore, changes: changesWithRoom };
  } catch (error) {
    if (!(error instanceof DepotError)) throw error;
    const code = PROBLEM_CODES.find((each) => each === error.explanation?.code) ?? 'unknown';
    return { ...plan, isPossible: false, problems: [createProblem(code, error.message)] };
  }
}
