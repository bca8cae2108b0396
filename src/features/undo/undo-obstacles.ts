import { isAtOrIn } from '../../device/inside-folder.ts';
import { isEnded, type Job } from '../../jobs/job.ts';
import type { Queue } from '../../jobs/queue.ts';
import { isPresent, type PackageDatabase } from '../../package-management/database.ts';
import { dependentsOf } from '../../package-management/dependencies.ts';
import { PACKAGE_LANE, type PackageManager } from '../../package-management/manager.ts';
import type { FeatureContext } from '../feature.ts';
import type { PackageTools } from '../../package-management/package-tools.ts';
import { stateOf } from '../../package-management/undo/file-states.ts';
import {
  replaced,
  type ChangedFile,
  type ChangedPackage,
  type Replaced,
} from '../../package-management/undo/undo-record.ts';

/** Why a task cannot be undone: a sentence that ends with a full stop. */
export interface Obstacle {
  reason: string;
  /** The package that is in the way, if one is. */
  package?: string;
}

export type UndoState = Awaited<ReturnType<typeof readUndoState>>;

export interface UndoTools
  extends Pick<PackageTools, 'manager' | 'undo'>, Pick<FeatureContext, 'processes'> {
  queue: Pick<Queue, 'all'>;
}

/** What the answer depends on, read at one moment. `kept`: the jobs whose copies are there. */
export async function readUndoState({ manager, undo, processes }: UndoTools) {
  const reading = [manager.installed(), undo.list(), processes.bootId()] as const;
  const [database, kept, bootId] = await Promise.all(reading);
  return { database, kept, bootId };
}

/** Kinds of the lane that replace nothing, or take it back themselves. */
const OTHERS = ['autoconf', 'backup', 'fleet'];

/** Whether a job is one that either can be undone or says why not. */
export function isUndoable({ lane, kind, state }: Job): boolean {
  return lane === PACKAGE_LANE && !OTHERS.includes(kind) && isEnded(state);
}

/** What can be told without looking at files. @returns undefined if nothing is in the way */
export function obstacleTo(
  job: Job,
  { database, kept, bootId }: UndoState,
  queue: Pick<Queue, 'all'>,
): Obstacle | undefined {
  const record = replaced.find(job)?.undo;
  const unkept = whyNotKept(record);
  if (unkept !== undefined) return { reason: unkept };
  const { packages = [], place } = record ?? {};
  for (const { name, after } of packages) {
    const entry = database.get(name);
    if ((isPresent(entry) ? entry.version : undefined) === after) continue;
    const later = laterChange(job, name, queue);
    const reason =
      later === undefined
        ? `${name} was changed since.`
        : `${name} was changed since by task ${later.id} (${later.command}).`;
    return { reason, package: name };
  }
  if (place !== undefined && !kept.has(job.id)) return { reason: GONE[reasonGone(job, bootId)] };
  return neededObstacle(job, packages, { database, queue });
}

/** Why there are no copies to undo by, as the record of the job says. */
function whyNotKept(record: Replaced | undefined): string | undefined {
  if (record?.no !== undefined) return record.no;
  if (record?.packages === undefined) return 'Nothing of what it replaced was kept.';
  const { packages, files, marked, lost } = record;
  if (packages.length + files.length + marked.length === 0) return 'It changed nothing.';
  return lost.length === 0 ? undefined : `There is no copy of ${lost.join(', ')}.`;
}

/** What came with the job may be needed by what came after it. */
function neededObstacle(
  job: Job,
  packages: readonly ChangedPackage[],
  { database, queue }: { database: PackageDatabase; queue: Pick<Queue, 'all'> },
): Obstacle | undefined {
  const going = new Set(packages.map(({ name }) => name));
  for (const { name, before } of packages) {
    const entry = database.get(name);
    if (before !== undefined || entry === undefined) continue;
    const others = dependentsOf(database, entry, going);
    if (others[0] === undefined) continue;
    const who = others.join(', ');
    const later = laterChange(job, others[0], queue);
    const reason =
      later === undefined
        ? `${name} is needed by ${who}, which came later.`
        : `${name} is needed by ${who}, which came later by task ${later.id} (${later.command}).`;
    return { reason, package: name };
  }
  return undefined;
}

const GONE = {
  memory: 'What it replaced was kept in memory, and the device was started again since.',
  disk: 'The disk that has what it replaced is not there.',
  room: 'What it replaced made room for that of newer tasks.',
} as const;

function reasonGone(job: Job, bootId: string): keyof typeof GONE {
  const { place } = replaced.read(job).undo;
  if (place?.kind === 'disk') return 'disk';
  return place?.kind === 'memory' && job.bootId !== bootId ? 'memory' : 'room';
}

/** The newest job after this one that changed the package. */
function laterChange(job: Job, name: string, queue: Pick<Queue, 'all'>): Job | undefined {
  const jobs = queue.all();
  const later = jobs.slice(jobs.indexOf(job) + 1);
  return later.findLast((other) => other.packages?.includes(name) === true);
}

/**
 * Which of its files go back: those that are as the job left them. What its owner changed since
 * stays, unless the files are all that the job changed: then that is in the way.
 */
export async function filesToPutBack(job: Job, { feeds }: Pick<PackageManager, 'feeds'>) {
  const { files, packages = [] } = replaced.read(job).undo;
  const lists = (await feeds.files()).lists;
  const isList = (path: string): boolean => lists.some((folder) => isAtOrIn(path, folder));
  const found: ChangedFile[] = [];
  const changed: string[] = [];
  const areListsAlone = files.every(({ path }) => isList(path));
  for (const file of files) {
    const now = await stateOf(file.path);
    if (now === file.after) found.push(file);
    else if (now === file.before) continue;
    else if (packages.length === 0 && (areListsAlone || !isList(file.path))) {
      changed.push(file.path);
    }
  }
  return { files: found, changed };
}

/** What is in the way, files included. */
export async function wholeObstacleTo(job: Job, tools: UndoTools): Promise<Obstacle | undefined> {
  const { manager, undo, queue } = tools;
  if (!isEnded(job.state)) return { reason: 'It has not ended.' };
  if (!isUndoable(job)) return { reason: 'It changed no packages and no feeds.' };
  const found = obstacleTo(job, await readUndoState(tools), queue);
  if (found !== undefined) return found;
  const { changed } = await filesToPutBack(job, manager);
  if (changed[0] !== undefined) return { reason: `${changed[0]} was changed since.` };
  const isKept = replaced.read(job).undo.place === undefined || (await undo.verify(job));
  return isKept ? undefined : { reason: 'What was kept for it is damaged.' };
}
