import { constants } from 'node:fs';
import { mkdir, open, readFile, rename, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { isDiskFull } from '../device/disk-full.ts';
import { DepotError, reasonOf, systemCode } from '../errors.ts';
import type { Job } from './job.ts';
import { toJob, toLine } from './record.ts';

/**
 * The jobs on disk: one file of lines, each the newest record of a job (or its removal).
 * Invariants:
 *  - `save` resolves when the line is on the medium (fdatasync); saves that come while one is being
 *    written share the next write;
 *  - a line cut off by a power cut is the last one and is dropped at the next start; it stood for
 *    nothing that was promised;
 *  - a write that fails is taken back, so that no record stands behind half a line, and none of
 *    what was refused comes to be after all;
 *  - the file is rewritten to a temporary file, synced and renamed when it has grown to more lines
 *    than it has jobs worth of them, so that a crash leaves either the old or the new one. Where
 *    there is no room for that, the long file goes on.
 */
export interface Journal {
  /** The jobs that were on disk when the journal was opened, oldest first. */
  jobs: Job[];
  save: (job: Job) => Promise<void>;
  forget: (id: string) => Promise<void>;
  close: () => Promise<void>;
}

/** Lines beyond two a job that are let stand before the file is rewritten. */
const SPARE_LINES = 200;

interface Waiting {
  line: string;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/** @throws DepotError unavailable where the folder cannot be written */
export async function openJournal(folder: string): Promise<Journal> {
  const file = join(folder, 'jobs.jsonl');
  const jobs = await readRecords(file).catch((error: unknown) => {
    throw new DepotError(
      'unavailable',
      `cannot read job records from ${folder}: ${reasonOf(error)}`,
      { cause: error },
    );
  });
  const latest = new Map(jobs.map((job) => [job.id, toLine(job)]));
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const handle = await rewrite(folder, file, latest).catch(() => continueFile(file));
    const writer = createWriter({ folder, file, latest, handle });
    return {
      jobs,
      save: async (job) => {
        const text = toLine(job);
        const isNew = !latest.has(job.id);
        latest.set(job.id, text);
        await writer.append(`${text}\n`).catch((error: unknown) => {
          if (isNew) latest.delete(job.id);
          throw error;
        });
      },
      forget: (id) => {
        latest.delete(id);
        return writer.append(`${JSON.stringify({ id, gone: true })}\n`);
      },
      close: writer.close,
    };
  } catch (error) {
    throw new DepotError(
      'unavailable',
      `cannot write job records to ${folder}: ${reasonOf(error)}`,
      { cause: error },
    );
  }
}

interface JournalFile {
  folder: string;
  file: string;
  latest: ReadonlyMap<string, string>;
  handle: FileHandle;
}

function createWriter({ folder, file, latest, handle: first }: JournalFile): {
  append: (line: string) => Promise<void>;
  close: () => Promise<void>;
} {
  let handle = first;
  let lineCount = latest.size;
  let waiting: Waiting[] = [];
  let writing: Promise<void> | undefined;

  const write = async (batch: Waiting[]): Promise<void> => {
    let size: number | undefined;
    try {
      ({ size } = await handle.stat());
      await handle.appendFile(batch.map(({ line }) => line).join(''));
      await handle.datasync();
      lineCount += batch.length;
      for (const { resolve } of batch) resolve();
    } catch (error) {
      if (size !== undefined) await handle.truncate(size).catch(() => undefined);
      const failure = asDepotError(folder, error);
      for (const { reject } of batch) reject(failure);
    }
  };

  const compact = async (): Promise<void> => {
    const next = await rewrite(folder, file, latest).catch(() => undefined);
    if (next === undefined) return;
    await handle.close();
    handle = next;
    lineCount = latest.size;
  };

  const flush = async (): Promise<void> => {
    try {
      while (waiting.length > 0) {
        const batch = waiting;
        waiting = [];
        await write(batch);
        if (lineCount > 2 * latest.size + SPARE_LINES) await compact();
      }
    } finally {
      // In the same turn as the last look at the line, or a record that comes in between would wait
      // for the next one.
      writing = undefined;
    }
  };

  return {
    append: (line) =>
      new Promise((resolve, reject) => {
        waiting.push({ line, resolve, reject });
        writing ??= flush();
      }),
    close: async () => {
      await writing;
      await handle.close();
    },
  };
}

/**
 * Reads the lines that are whole; the newest of each job counts, at the place of its first one:
 * that is the order of the queue.
 */
async function readRecords(file: string): Promise<Job[]> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    // A file that is there and cannot be read must not be taken for none: it would be written over.
    if (systemCode(error) === 'ENOENT') return '';
    throw error;
  });
  const records = new Map<string, Job>();
  for (const line of text.split('\n').slice(0, -1)) {
    const record = parseRecord(line);
    if (record === undefined) continue;
    if ('gone' in record) records.delete(record.id);
    else records.set(record.id, record);
  }
  return [...records.values()];
}

function parseRecord(line: string): Job | { id: string; gone: true } | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && 'id' in value
      ? toJob(value as Job)
      : undefined;
  } catch {
    // A line that a power cut left torn.
    return undefined;
  }
}

async function rewrite(
  folder: string,
  file: string,
  latest: ReadonlyMap<string, string>,
): Promise<FileHandle> {
  const temporary = `${file}.new`;
  await rm(temporary, { force: true });
  const handle = await open(temporary, APPEND | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    await handle.appendFile([...latest.values()].map((line) => `${line}\n`).join(''));
    await handle.sync();
    await rename(temporary, file);
    const directory = await open(folder, 'r');
    await directory.sync().finally(() => directory.close());
    return handle;
  } catch (error) {
    await handle.close();
    await rm(temporary, { force: true });
    throw error;
  }
}

const APPEND = constants.O_WRONLY | constants.O_APPEND;

/** Goes on with the file as it is, without the line that was cut off. */
async function continueFile(file: string): Promise<FileHandle> {
  const handle = await open(file, APPEND);
  await handle.truncate((await readFile(file)).lastIndexOf('\n') + 1);
  return handle;
}

function asDepotError(folder: string, error: unknown): DepotError {
  return new DepotError(
    isDiskFull(error) ? 'no_space' : 'internal',
    `cannot write job records to ${folder}: ${reasonOf(error)}`,
    { cause: error },
  );
}
