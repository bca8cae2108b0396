import { isDiskFull } from '../../device/disk/disk-full.ts';
import { DepotError, reasonOf } from '../../errors.ts';
import { isEnded, type Job } from '../job.ts';
import type { JournalFile } from './journal-file.ts';
import { toLine } from './record.ts';
import type { JobMarks } from './job-marks.ts';

/** Lines beyond two a job that are let stand before the file is replaced. */
const SPARE_LINES = 200;
/** What a record may grow by until its end: an error, its remedy, an exit code, times. */
const GROWTH_BYTES = 1024;
/** Growth by the end of a job that waits: it was stopped, or failed before it began. */
const QUEUED_GROWTH_BYTES = 384;

interface Waiting {
  line: string;
  /** Mark to be made before the job counts as recorded. */
  newMark?: string | undefined;
  /** Whether the reserve is there for it. */
  isEnd: boolean;
  resolve: () => void;
  reject: (error: unknown) => void;
}

interface WriterOptions {
  folder: string;
  file: JournalFile;
  marks: JobMarks;
  jobs: readonly Job[];
  /** How many lines the journal's file has already. */
  lines: number;
}

export function createJournalWriter(options: WriterOptions) {
  const { file, marks, jobs } = options;
  const latest = createLatest(jobs);
  let lineCount = options.lines;
  let waiting: Waiting[] = [];
  let flushing: Promise<void> | undefined;

  const write = async (batch: readonly Waiting[], reserved: number): Promise<void> => {
    const newMarks = batch.flatMap(({ newMark }) => newMark ?? []);
    await marks.make(newMarks);
    const text = batch.map(({ line }) => line).join('');
    await file.append(text, reserved, newMarks.length > 0 ? marks.sync : undefined);
    lineCount += batch.length;
    for (const { resolve } of batch) resolve();
  };
  /** One line after the other: where all together find no room, one may, a job's end above all. */
  const writeEach = async (batch: readonly Waiting[]): Promise<void> => {
    for (const entry of batch) {
      await write([entry], entry.isEnd ? 0 : latest.reserve()).catch((error: unknown) => {
        entry.reject(asDepotError(options.folder, error));
      });
    }
  };
  const compact = async (): Promise<void> => {
    await file.replace(latest.text(), latest.reserve()).then(
      () => (lineCount = latest.count()),
      () => undefined,
    );
  };
  const isLong = (): boolean => lineCount > 2 * latest.count() + SPARE_LINES;
  const flush = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      await write(batch, latest.reserve()).catch(() => writeEach(batch));
      if (isLong()) await compact();
    }
    // In the same tick as the last look at the line, or a record that comes in between would wait
    // for the next one.
    flushing = undefined;
  };
  const append = (line: string, more: Pick<Waiting, 'isEnd' | 'newMark'>): Promise<void> =>
    new Promise((resolve, reject) => {
      waiting.push({ line: `${line}\n`, ...more, resolve, reject });
      flushing ??= flush();
    });

  return {
    /** Whether the file has many more lines than jobs. */
    isLong,
    /** Replaces the file by one that has a line a job; goes on with the old one if it cannot. */
    compact,
    /**
     * @param isUrgent whether the reserve may be used: for what somebody is told, that a job stops
     * @throws DepotError no_space, unavailable
     */
    save: async (job: Job, isUrgent = false): Promise<void> => {
      const given = latest.get(job.id) === undefined ? marks.give(job.id) : undefined;
      if (given) job.mark = given.mark;
      const newMark = given?.isNew === true ? given.mark : undefined;
      await append(latest.put(job), { isEnd: isUrgent, newMark }).catch((error: unknown) => {
        if (given) latest.remove(job.id);
        if (given) marks.drop(job.id);
        throw error;
      });
    },
    /**
     * Puts the end of a job on record.
     * @returns `marked` if only that it has ended could be kept, and not how
     * @throws DepotError no_space, unavailable if not even that was possible
     */
    saveEnd: async (job: Job): Promise<'recorded' | 'marked'> => {
      const before = latest.get(job.id);
      try {
        await append(latest.put(job), { isEnd: true });
      } catch (error) {
        if (await marks.remove(job.id)) return 'marked';
        if (before !== undefined) latest.restore(job.id, before);
        throw error;
      }
      marks.release(job.id);
      return 'recorded';
    },
    forget: async (id: string): Promise<void> => {
      latest.remove(id);
      await append(JSON.stringify({ id, gone: true }), { isEnd: false });
      marks.release(id);
    },
    close: async (): Promise<void> => {
      await flushing;
      await file.close();
    },
  };
}

/** The newest line of each job, in the order of the queue. Nothing leaves an ended state. */
function createLatest(jobs: readonly Job[]) {
  const lines = new Map<string, string>();
  const unended = new Map<string, number>();
  const put = (job: Job): string => {
    const before = lines.get(job.id);
    // Asked to stop while its end is being written: the end stays the newest line.
    if (before !== undefined && !unended.has(job.id) && !isEnded(job.state)) return before;
    const line = toLine(job);
    lines.set(job.id, line);
    if (isEnded(job.state)) unended.delete(job.id);
    // A job that waits is recorded as stopped in one line; one that runs needs two.
    else if (job.state === 'queued') {
      unended.set(job.id, Buffer.byteLength(line) + QUEUED_GROWTH_BYTES);
    } else unended.set(job.id, 2 * reserveFor(line));
    return line;
  };
  for (const job of jobs) put(job);
  return {
    /** @returns the line that counts, without its end */
    put,
    remove: (id: string) => {
      lines.delete(id);
      unended.delete(id);
    },
    get: (id: string) => lines.get(id),
    /** Puts back the line of a job that has not ended after all. */
    restore: (id: string, line: string) => {
      lines.set(id, line);
      unended.set(id, 2 * reserveFor(line));
    },
    count: () => lines.size,
    text: () => [...lines.values()].map((line) => `${line}\n`).join(''),
    /** Bytes that the ends of all jobs will need: that one is to stop, and that it has ended. */
    reserve: () => [...unended.values()].reduce((sum, bytes) => sum + bytes, 0),
  };
}

function reserveFor(line: string): number {
  return Buffer.byteLength(line) + GROWTH_BYTES;
}

function asDepotError(folder: string, cause: unknown): DepotError {
  const message = `cannot write job records to ${folder}: ${reasonOf(cause)}`;
  return new DepotError(isDiskFull(cause) ? 'no_space' : 'unavailable', message, { cause });
}
