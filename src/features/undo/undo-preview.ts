import { sizeText } from '../../format-bytes.ts';
import type { Job } from '../../jobs/job.ts';
import type { ChangePreview } from '../../package-management/change-preview.ts';
import { failureProblem } from '../../package-management/failure.ts';
import type { PreviewedChange } from '../../package-management/preview.ts';
import { createProblem } from '../../package-management/problem.ts';
import { bytesOf } from '../../package-management/transaction/kept-packages.ts';
import { replaced, type ChangedPackage } from '../../package-management/undo/undo-record.ts';
import { filesToPutBack, wholeObstacleTo } from './undo-obstacles.ts';
import { refusal, type UndoPlanTools } from './plan.ts';

/** The plan of an undo says this beside what each plan says. */
export interface UndoPreview extends ChangePreview {
  undo: {
    /** Files that go back, as the device has them. */
    files: string[];
    /** Where the replaced things lie: what is in memory is gone after a boot. */
    keptIn?: 'disk' | 'memory' | 'flash';
  };
}
export async function previewUndo(tools: UndoPlanTools, job: Job): Promise<UndoPreview> {
  const { manager, paths } = tools;
  const { packages = [], place } = replaced.find(job)?.undo ?? {};
  const obstacle = await wholeObstacleTo(job, tools);
  const freeBytes = await manager.freeBytes();
  if (obstacle !== undefined) {
    const problems = [failureProblem(`undo ${job.command}`, refusal(obstacle))];
    return { changes: [], problems, isPossible: false, freeBytes, undo: { files: [] } };
  }
  const changes = await Promise.all(packages.map((one) => changeBack(tools, one)));
  const diskBytes = changes.reduce((sum, change) => sum + change.diskBytes, 0);
  const text = `${sizeText(diskBytes)} are needed, ${sizeText(freeBytes)} are free`;
  const problems =
    diskBytes > freeBytes ? [createProblem('no_space', `cannot undo it: ${text}`)] : [];
  const { files } = await filesToPutBack(job, manager);
  return {
    ...{ changes, problems, freeBytes, isPossible: problems.length === 0 },
    undo: {
      files: files.map(({ path }) => (paths.isLive ? path : path.slice(paths.root.length))),
      ...(place !== undefined && { keptIn: place.kind }),
    },
  };
}

async function changeBack(
  { manager, paths }: UndoPlanTools,
  { name, before, after, bytes = 0 }: ChangedPackage,
): Promise<PreviewedChange> {
  if (after === undefined) {
    const version = before ?? '';
    return { action: 'install', name, version, reason: 'asked', diskBytes: bytes };
  }
  const there = await bytesOf(name, { manager, paths });
  if (before === undefined) {
    return { action: 'remove', name, version: after, reason: 'asked', diskBytes: -there };
  }
  return {
    ...{ action: 'upgrade', name, version: before, fromVersion: after, reason: 'asked' },
    diskBytes: bytes - there,
  };
}
