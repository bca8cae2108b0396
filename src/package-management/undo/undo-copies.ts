import { join } from 'node:path';
import { isDiskFull } from '../../device/disk/disk-full.ts';
import { replaceFile } from '../../device/durable-file.ts';
import { isShortage } from '../../device/shortage.ts';
import { DepotError, reasonOf } from '../../errors.ts';
import type { Job } from '../../jobs/job.ts';
import type { Act, StepContext } from '../../jobs/plan.ts';
import { isPresent } from '../database.ts';
import { failureError } from '../failure.ts';
import type { PackageChange, PackageManager, PlannedPackage } from '../manager.ts';
import {
  bytesOf,
  createKeptPackages,
  replacedBy,
  type KeptPackage,
  type Replacement,
} from '../transaction/kept-packages.ts';
import { closeKept } from './close-kept.ts';
import { copyFiles, scanFiles, sizeOf, sumOf, type FileScope } from './file-states.ts';
import {
  BEFORE,
  filesOf,
  FILES,
  MANIFEST,
  readManifest,
  recordsIn,
  settingsScope,
  versionsIn,
  type Before,
  type UndoTools,
} from './kept-folder.ts';
import { NOTHING_REPLACED, replaced } from './undo-record.ts';

/**
 * Keeps what a job replaces, so that it can be taken back: package files, packed as installed, what
 * is on record of them, and the files below /etc that the job changes. Invariants:
 *  - it stands on record before the command begins, and says after it what of that was replaced;
 *  - what cannot be kept fails no job but one that has to be able to go back.
 */
export type UndoCopies = ReturnType<typeof createUndoCopies>;

export interface KeepWork {
  /** What the job is about to change; undefined if nobody knows, or if it changes no package. */
  changeIn: (context: StepContext) => PackageChange | undefined;
  /** Whether it is a program of the owner's, which may change anything. */
  isForeign?: boolean;
  /** What the package manager has planned for just that; default: it is asked. */
  planned?: ((context: StepContext) => Promise<readonly PlannedPackage[]>) | undefined;
  /** Default: what is below /etc. */
  scope?: () => Promise<FileScope>;
}

/** Sentences. */
const NO = {
  room: 'There was no room to keep what it replaced.',
  copy: 'What it replaced could not be kept; its log says why.',
  program: 'It ran a program, which may have changed anything.',
} as const;

/** What the owner can do if a job has to be able to go back. */
const REMEDY = {
  room: 'Free space on the device, or use depotctl without --confirm: then it does not go back.',
  copy: 'See the log, or use depotctl without --confirm: then it does not go back.',
} as const;

export function createUndoCopies(tools: UndoTools) {
  const { store } = tools;
  const { list, release, pinWhile, drop, sweep } = store;
  return {
    ...{ list, release, pinWhile, drop, sweep },
    /** The step before the command: copies what the command is about to replace. */
    keepStep: (work: KeepWork): Act => ({
      id: 'keep-replaced',
      label: 'keep the old versions',
      isRecorded: true,
      act: async (context) => {
        if (work.isForeign === true) {
          replaced.write(context, { undo: { ...NOTHING_REPLACED, no: NO.program } });
        } else await keep(tools, work, context);
      },
    }),
    /** The step behind everything, and at the end of the repair: says what is different now. */
    closeStep: (work: Pick<KeepWork, 'scope'> = {}): Act => ({
      id: 'close-replaced',
      label: 'finish',
      isLate: true,
      act: async (context) => {
        await closeKept(tools, work.scope ?? settingsScope(tools.paths), context).catch(
          async (error: unknown) => {
            await context.note(`it cannot be undone: ${reasonOf(error)}`);
          },
        );
      },
    }),
    /** Copies that a job has. */
    copiesOf: async (job: Pick<Job, 'id'>): Promise<ReadonlyMap<string, KeptPackage>> => {
      const folder = await store.find(job.id);
      return folder === undefined ? new Map() : createKeptPackages(folder, tools).find(job.id);
    },
    /**
     * The folder of a job that has ended, and what was on record of the packages.
     * @returns undefined if it is gone, or is not what was kept
     */
    verify: async (job: Job) => {
      const folder = await store.find(job.id);
      const { sum } = replaced.read(job).undo;
      if (folder === undefined || sum === undefined) return undefined;
      const manifest = await readManifest(folder);
      const isOurs = manifest !== undefined && (await sumOf(join(folder, MANIFEST))) === sum;
      if (!isOurs) return undefined;
      for (const [name, expected] of Object.entries(manifest.sums)) {
        const found = await sumOf(join(folder, name)).catch(() => undefined);
        if (found !== expected) return undefined;
      }
      return { folder, records: new Map(Object.entries(manifest.records)) };
    },
  };
}

async function keep(tools: UndoTools, work: KeepWork, context: StepContext): Promise<void> {
  const { store } = tools;
  const { job, note } = context;
  try {
    await copyWhatGoes(tools, work, context);
  } catch (error) {
    await store.drop(job.id).catch(() => undefined);
    if (isShortage(error)) throw error;
    const isShort = error instanceof DepotError && error.code === 'no_space';
    const isFull = isDiskFull(error) || isShort;
    replaced.write(context, { undo: { ...NOTHING_REPLACED, no: isFull ? NO.room : NO.copy } });
    if (!mustGoBack(job)) return note(`it cannot be undone: ${reasonOf(error)}`);
    throw failureError('begin', {
      code: isFull ? 'no_space' : 'unknown',
      reason: `it could not go back: ${reasonOf(error)}`,
      remedy: REMEDY[isFull ? 'room' : 'copy'],
    });
  }
}

/** Whether the job goes back by itself unless it is confirmed, maybe without a network. */
function mustGoBack({ params }: Readonly<Job>): boolean {
  return params.confirm_s !== undefined;
}

async function copyWhatGoes(tools: UndoTools, work: KeepWork, context: StepContext): Promise<void> {
  const { manager, paths, store } = tools;
  const { job } = context;
  const isLasting = mustGoBack(job);
  const change = work.changeIn(context);
  const scope = work.scope ?? settingsScope(paths);
  const [goes, database, files] = await Promise.all([
    goesWith(manager, change, () => work.planned?.(context)),
    manager.installed(),
    scope().then(scanFiles),
    store.drop(job.id),
  ]);
  const names = [...goes.names].filter((name) => isPresent(database.get(name)));
  const bytes: Record<string, number> = {};
  for (const name of names) bytes[name] = await bytesOf(name, { manager, paths });
  const fileBytes = await sizeOf(files);
  const all = Object.values(bytes).reduce((sum, each) => sum + each, fileBytes);
  // What has room alone is of use if the job fails.
  const place =
    (await store.open(job.id, { bytes: all, isLasting })) ??
    (isLasting ? undefined : await store.open(job.id, { bytes: fileBytes, isLasting }));
  if (place === undefined) {
    throw new DepotError('no_space', 'there is no room for a copy of what it replaces');
  }
  replaced.write(context, { undo: { ...NOTHING_REPLACED, place } });
  const folder = join(place.folder, job.id);
  await copyFiles(files, join(folder, FILES));
  const room = await store.roomIn(place, job.id);
  const kept = createKeptPackages(folder, { manager, paths, room: () => room });
  if (change !== undefined) {
    await kept.keep({ key: job.id, change, before: database, goes }, context);
  }
  const copies = await kept.find(job.id);
  const absent = names.find((name) => !copies.has(name));
  if (isLasting && absent !== undefined) throw new Error(`there is no copy of ${absent}`);
  const before: Before = {
    packages: versionsIn(database),
    builds: Object.fromEntries((await manager.builds?.()) ?? []),
    records: Object.fromEntries(await recordsIn(manager, database)),
    files: Object.fromEntries(files),
    bytes,
    owned: await filesOf(manager, paths, names),
  };
  await replaceFile(join(folder, BEFORE), JSON.stringify(before));
}

async function goesWith(
  manager: PackageManager,
  change: PackageChange | undefined,
  planned: () => Promise<readonly PlannedPackage[]> | undefined,
): Promise<Replacement> {
  if (change === undefined) return { names: new Set(), growthBytes: 0 };
  if (change.verb === 'remove') return { names: new Set(change.names), growthBytes: 0 };
  // How large a file is that was given, a plan does not say.
  return replacedBy(manager, change, change.file === undefined ? await planned() : undefined);
}
