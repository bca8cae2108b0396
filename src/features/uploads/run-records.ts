import * as v from 'valibot';
import type { Notes } from '../../device/ports.ts';

const record = v.object({
  /** The id of the upload's job. */
  id: v.string(),
  /** When it was installed, in Unix seconds. */
  ts: v.number(),
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

/** What uploads brought, kept so that each can be undone. Oldest first. */
export interface RunRecords {
  all: () => Promise<RunRecord[]>;
  find: (id: string) => Promise<RunRecord | undefined>;
  /** Takes the place of one with the same id. */
  put: (entry: RunRecord) => Promise<void>;
  /** @returns whether there was one */
  remove: (id: string) => Promise<boolean>;
}

const NOTE = 'run-records';
/** Beyond it the oldest go: flash is small. */
const MOST_RECORDS = 200;

export function createRunRecords(notes: Notes): RunRecords {
  let last: Promise<unknown> = Promise.resolve();
  const read = async (): Promise<RunRecord[]> => {
    const found = await notes.read(NOTE);
    // One that another version wrote differently is passed over; the others stay.
    return Array.isArray(found) ? found.filter((entry) => v.is(record, entry)) : [];
  };
  /** Jobs and requests change the records side by side: one after the other. */
  const change = (next: (records: RunRecord[]) => RunRecord[]): Promise<RunRecord[]> => {
    const changing = last.then(async () => {
      const before = await read();
      await notes.write(NOTE, next(before));
      return before;
    });
    last = changing.catch(() => undefined);
    return changing;
  };
  return {
    all: read,
    find: async (id) => (await read()).find((entry) => entry.id === id),
    put: async (entry) => {
      await change((records) =>
        [...records.filter(({ id }) => id !== entry.id), entry].slice(-MOST_RECORDS),
      );
    },
    remove: async (id) =>
      (await change((records) => records.filter((entry) => entry.id !== id))).some(
        (entry) => entry.id === id,
      ),
  };
}
