import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import type { Notes } from '../../device/ports.ts';
import { createSequence } from '../../device/concurrency-limit.ts';
import { parseJson } from '../../device/durable-file.ts';
import { readSmallBytes } from '../../device/owner-file.ts';
import { isPackageName } from '../../package-management/names.ts';
import { shownName } from './receive.ts';

const record = v.object({
  /** `TS-MD5`, as iStore makes it. */
  id: v.string(),
  /** The upload's job; a record without one has the job's id, or is iStore's. */
  job: v.optional(v.string()),
  /** When the upload was installed, in Unix seconds. */
  ts: v.pipe(v.number(), v.integer(), v.minValue(0)),
  md5: v.string(),
  /** The name under which it was sent: for people only. */
  file: v.string(),
  /** The packages that came with it. */
  packages: v.array(v.string()),
  /** The package in the file; a program has none. */
  package: v.optional(v.string()),
  /** Whether that one was there before, and had come as a dependency. */
  wasAuto: v.optional(v.boolean()),
});

/** What one upload brought. */
export type RunRecord = v.InferOutput<typeof record>;

/** What uploads brought, kept so that each can be undone; iStore's, too. Oldest first. */
export interface RunRecords {
  all: () => Promise<RunRecord[]>;
  find: (id: string) => Promise<RunRecord | undefined>;
  findByJob: (job: string) => Promise<RunRecord | undefined>;
  /** Takes the place of one with the same id. */
  put: (entry: RunRecord) => Promise<void>;
  /** @returns whether there was one */
  remove: (id: string) => Promise<boolean>;
}

const NOTE = 'run-records';
/** Beyond it the oldest go: flash is small. */
const MOST_RECORDS = 200;

/** @param istore what iStore recorded */
export function createRunRecords(
  notes: Notes,
  istore: Pick<RunRecords, 'all' | 'remove'>,
): RunRecords {
  const inTurn = createSequence();
  const read = async (): Promise<RunRecord[]> => {
    const found = await notes.read(NOTE);
    // A record that another version wrote differently is passed over; the others stay.
    return Array.isArray(found) ? found.filter((entry) => v.is(record, entry)) : [];
  };
  /** Jobs and requests change the records side by side: one after the other. */
  const change = (next: (records: RunRecord[]) => RunRecord[]): Promise<RunRecord[]> =>
    inTurn(async () => {
      const before = await read();
      await notes.write(NOTE, next(before));
      return before;
    });
  const all = async (): Promise<RunRecord[]> =>
    [...(await istore.all()), ...(await read())].sort((one, other) => one.ts - other.ts);
  return {
    all,
    find: async (id) => (await all()).find(isOf(id)),
    findByJob: async (job) => (await read()).find((entry) => (entry.job ?? entry.id) === job),
    put: async (entry) => {
      await change((records) =>
        [...records.filter(({ id }) => id !== entry.id), entry].slice(-MOST_RECORDS),
      );
    },
    remove: async (id) => {
      if (await istore.remove(id)) return true;
      const before = await change((records) => records.filter((entry) => !isOf(id)(entry)));
      return before.some(isOf(id));
    },
  };
}

/** The id of its task names a record, too. */
function isOf(id: string): (entry: RunRecord) => boolean {
  return (entry) => entry.id === id || entry.job === id;
}

/** Seconds, then the MD5 of the file. */
const FILE_NAME = /^(\d{1,12}-[0-9a-f]{32})\.txt$/;
const MOST_FILES = 200;
const MOST_BYTES = 64 * 1024;

const head = v.pick(record, ['id', 'ts', 'md5', 'file']);

/** Records that iStore wrote: one file each, a line of JSON and then a package a line. */
export function createIstoreRecords(folder: string): Pick<RunRecords, 'all' | 'remove'> {
  const list = async (): Promise<string[]> => {
    const names = await readdir(folder).catch(() => []);
    return names.flatMap((name) => FILE_NAME.exec(name)?.[1] ?? []).sort();
  };
  const fileOf = (id: string): string => join(folder, `${id}.txt`);
  return {
    all: async () => {
      const ids = (await list()).slice(-MOST_FILES);
      return (await Promise.all(ids.map((id) => readRecord(fileOf(id), id)))).flat();
    },
    remove: async (id) => {
      if (!(await list()).includes(id)) return false;
      await rm(fileOf(id), { force: true });
      return true;
    },
  };
}

/** The record in a file of iStore's; none if it is not as iStore writes it. */
async function readRecord(file: string, id: string): Promise<RunRecord[]> {
  const text = (await readSmallBytes(file, MOST_BYTES))?.toString() ?? '';
  const [first = '', ...lines] = text.split('\n');
  const parsed = v.safeParse(head, parseJson(first));
  if (!parsed.success || parsed.output.id !== id) return [];
  const { ts, md5, file: name } = parsed.output;
  return [{ id, ts, md5, file: shownName(name), packages: lines.filter(isPackageName) }];
}
