import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DepotError, reasonOf, succeeds } from '../../errors.ts';
import { EXPLANATIONS } from '../explanation.ts';
import { ENDED_WITHOUT_CODE, isEnded, unixNow, type Job } from '../job.ts';
import { openJournalFile } from './journal-file.ts';
import { createJournalWriter } from './journal-writer.ts';
import { readJournal, type JournalLimits } from './read-journal.ts';
import { damagedJob } from './record.ts';
import { moveStrangeAside, setLinesAside } from './set-aside.ts';
import { openMarks, type JobMarks } from './job-marks.ts';

/**
 * The jobs on disk: one file of lines, each the newest record of a job (or its removal).
 * Invariants:
 *  - `save` resolves when the line is on the medium. Group commit: lines that come while one is
 *    being written share the next write;
 *  - the end of a job, or that it is to stop, finds room on a full disk: a reserve for it is
 *    written beforehand (journal-file.ts). If it finds none all the same, the job's mark goes
 *    (job-marks.ts), so that it does not run again;
 *  - the file is replaced when it has grown to more lines than it has jobs worth of them. If there
 *    is no room for that, the long file goes on;
 *  - a line that cannot be believed is set aside, and a failed job stands for it.
 */
export type Journal = Awaited<ReturnType<typeof openJournal>>;

/** @throws DepotError unavailable if the folder cannot be read or written */
export async function openJournal(
  folder: string,
  limits: JournalLimits = { mostEnded: Infinity, mostQueued: Infinity },
) {
  const [file, aside] = [join(folder, 'jobs.jsonl'), join(folder, 'jobs.damaged.jsonl')];
  const marksFolder = join(folder, 'job-marks');
  const { strange, content } = readAll(file, marksFolder, limits);
  const damaged = [...strange, ...content.damaged];
  const jobs = [...content.jobs, ...strange.map(({ id, damage }) => damagedJob(id, damage))];
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const named = jobs.flatMap(({ mark }) => mark ?? []);
    const marks = openMarks(marksFolder, named);
    const isChanged = await adoptMarks(jobs, marks);
    const writer = createJournalWriter({
      folder,
      file: await openJournalFile(file, content.end),
      marks,
      jobs,
      lines: content.lines,
    });
    // If they cannot be set aside, the lines stay where they are, and are found again.
    const areAside = await setLinesAside(aside, damaged);
    const isOther = isChanged || damaged.length > 0 || content.dropped > 0 || writer.isLong();
    if (isOther && (areAside || content.dropped > 0)) await writer.compact();
    return {
      /** The jobs that were on disk when the journal was opened, oldest first. */
      jobs,
      /** Records that were set aside when the journal was opened. */
      damaged,
      /** How many jobs that waited were let go, since they were more than may wait. */
      dropped: content.dropped,
      ...writer,
    };
  } catch (error) {
    throw unavailable(`cannot write job records to ${folder}: ${reasonOf(error)}`, error);
  }
}

function readAll(file: string, marksFolder: string, limits: JournalLimits) {
  try {
    const strange = moveStrangeAside(file, 'isFile');
    strange.push(...moveStrangeAside(marksFolder, 'isDirectory'));
    return { strange, content: readJournal(file, limits) };
  } catch (error) {
    const folder = dirname(file);
    throw unavailable(`cannot read job records from ${folder}: ${reasonOf(error)}`, error);
  }
}

function unavailable(message: string, cause: unknown): DepotError {
  return new DepotError('unavailable', message, { cause });
}

/**
 * Jobs of a version that knew no marks get theirs; those that have lost it have ended.
 * @returns whether a record says something else now
 */
async function adoptMarks(jobs: readonly Job[], marks: JobMarks): Promise<boolean> {
  const unended = jobs.filter(({ state }) => !isEnded(state));
  const areOlder = unended.map(nameOlderMark);
  const lost = unended.filter(({ mark }) => mark !== undefined && !marks.has(mark));
  for (const job of lost) {
    const end = job.state === 'queued' ? UNMARKED.queued : UNMARKED.running;
    Object.assign(job, end, { stoppedAt: unixNow() });
  }
  const left = unended.filter((job) => !lost.includes(job));
  marks.adopt(left.flatMap(({ id, mark }) => (mark === undefined ? [] : { id, mark })));
  const bare = left.filter(({ mark }) => mark === undefined);
  for (const job of bare) job.mark = marks.give(job.id).mark;
  const names = left.flatMap(({ mark }) => mark ?? []);
  const areMade = names.length === 0 || (await succeeds(marks.make(names).then(marks.sync)));
  for (const job of areMade ? [] : bare) {
    marks.drop(job.id);
    delete job.mark;
  }
  return areOlder.includes(true) || bare.length > 0 || lost.length > 0;
}

/** An older depotd recorded only that a job has a mark (`isMarked`), which has the job's name. */
function nameOlderMark(job: Job & { isMarked?: boolean }): boolean {
  const { isMarked } = job;
  if (isMarked === undefined) return false;
  // Written later than `mark`: this depotd never writes `isMarked`.
  delete job.isMarked;
  delete job.mark;
  if (isMarked) job.mark = job.id;
  return true;
}

const UNMARKED = {
  queued: {
    state: 'stopped',
    exitCode: ENDED_WITHOUT_CODE,
    error: 'it was stopped without room to record that, or the power went while it was accepted',
    errorCode: EXPLANATIONS.stopped.code,
    remedy: EXPLANATIONS.stopped.remedy,
  },
  running: {
    state: 'failed',
    exitCode: 1,
    error: 'it has ended, and there was no room to record how',
    errorCode: EXPLANATIONS.noSpace.code,
    remedy: 'Free space on the device, then look whether what the task was for is done.',
  },
};
