import { readdirSync } from 'node:fs';
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { syncPath } from '../../device/durable-file.ts';
import { systemCode } from '../../errors.ts';

/**
 * An empty file, its mark, for each job on record that has not ended. A job whose end cannot be
 * written, for want of room, loses its mark instead: unlink(2) finds room also where writing over
 * old data does not, on copy-on-write file systems (docs/reference/jobs.md). A job on record as not
 * ended that has lost its mark does not run again. The mark of one that has ended is there for the
 * next one, so that a job that comes alone makes none.
 */
export interface JobMarks {
  /** Whether it was there when they were opened; true if the marks are all gone. */
  has: (mark: string) => boolean;
  /** The name of one that no other job has; `isNew` if it is still to be made, and synced. */
  give: (jobId: string) => { mark: string; isNew: boolean };
  /** They are on the medium only after `sync`. */
  make: (marks: readonly string[]) => Promise<void>;
  sync: () => Promise<void>;
  /** The job has ended, and that is on record; or it is forgotten. */
  release: (jobId: string) => void;
  /** @returns whether it had one, which is gone for good */
  remove: (jobId: string) => Promise<boolean>;
  /** The job is not on record after all: it does not matter when its mark goes. */
  drop: (jobId: string) => void;
  /** The jobs that have one by their records. Some that nobody has are kept, the rest go. */
  adopt: (jobs: readonly { id: string; mark: string }[]) => void;
}

const MOST_SPARE = 4;
/** An older depotd gave each job one with the job's name, and no other job gets that. */
const REUSABLE = /^mark-(\d{1,9})$/;

/** @param named the marks on record, whether they are there or not: no other job gets those */
export function openMarks(folder: string, named: readonly string[] = []): JobMarks {
  const names = namesIn(folder);
  const known = names === undefined ? undefined : new Set(names);
  const numbers = [...(names ?? []), ...named].map((name) => Number(REUSABLE.exec(name)?.[1] ?? 0));
  const held = new Map<string, string>();
  const spare: string[] = [];
  const durable = new Set<string>();
  let made: string[] = [];
  let last = Math.max(0, ...numbers);
  let isThere = names !== undefined;
  const remove = (mark: string): Promise<void> => {
    durable.delete(mark);
    return rm(join(folder, mark), { force: true });
  };
  const removeLater = (mark: string): void => void remove(mark).catch(() => undefined);
  const letGo = (jobId: string, then: (mark: string) => void): void => {
    const mark = held.get(jobId);
    held.delete(jobId);
    if (mark !== undefined) then(mark);
  };
  return {
    has: (mark) => known?.has(mark) ?? true,
    give: (jobId) => {
      const mark = spare.pop() ?? `mark-${(last += 1)}`;
      held.set(jobId, mark);
      return { mark, isNew: !durable.has(mark) };
    },
    make: async (marks) => {
      if (marks.length === 0) return;
      if (!isThere) await makeFolder(folder);
      isThere = true;
      await Promise.all(marks.map((mark) => touch(join(folder, mark))));
      made = [...marks];
    },
    sync: async () => {
      await syncPath(folder);
      for (const mark of made) durable.add(mark);
    },
    release: (jobId) => {
      letGo(jobId, (mark) => (REUSABLE.test(mark) ? spare.push(mark) : removeLater(mark)));
    },
    remove: async (jobId) => {
      const mark = held.get(jobId);
      if (mark === undefined) return false;
      try {
        await remove(mark);
        await syncPath(folder);
      } catch {
        return false;
      }
      held.delete(jobId);
      return true;
    },
    drop: (jobId) => {
      letGo(jobId, removeLater);
    },
    adopt: (jobs) => {
      for (const { id, mark } of jobs) held.set(id, mark);
      const isHeld = new Set(held.values());
      for (const mark of names ?? []) {
        if (isHeld.has(mark)) continue;
        if (REUSABLE.test(mark) && spare.length < MOST_SPARE) spare.push(mark);
        else removeLater(mark);
      }
    },
  };
}

function namesIn(folder: string): string[] | undefined {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** On a full disk Node says of a recursive one that the folder is not there. */
async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
    if (systemCode(error) !== 'EEXIST') throw error;
  });
}

async function touch(file: string): Promise<void> {
  await (await open(file, 'a', 0o600)).close();
}
