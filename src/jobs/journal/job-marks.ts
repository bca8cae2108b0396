import { readdirSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { syncPath } from '../../device/durable-file.ts';
import { makeFolder } from '../../device/private-folder.ts';
import { systemCode } from '../../errors.ts';

export type JobMarks = ReturnType<typeof openMarks>;

const MOST_SPARE = 4;
/** Marks that another job may get; an older depotd named each after its only job. */
const REUSABLE = /^mark-(\d{1,9})$/;

/**
 * An empty file, its mark, for each job on record that has not ended. A job whose end cannot be
 * written, for want of room, loses its mark instead: unlink(2) finds room also where writing over
 * old data does not, on copy-on-write file systems (docs/reference/jobs.md). A job on record as not
 * ended that has lost its mark does not run again. The mark of one that has ended is there for the
 * next one, so that a job that comes alone makes none.
 * @param named the marks on record, whether they are there or not: no other job gets those
 */
export function openMarks(folder: string, named: readonly string[] = []) {
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
    /** Whether it was there when they were opened; true if the marks are all gone. */
    has: (mark: string) => known?.has(mark) ?? true,
    /** The name of one that no other job has; `isNew` if it is still to be made, and synced. */
    give: (jobId: string) => {
      const mark = spare.pop() ?? `mark-${(last += 1)}`;
      held.set(jobId, mark);
      return { mark, isNew: !durable.has(mark) };
    },
    /** Makes the files of marks; they are on the medium only after `sync`. */
    make: async (marks: readonly string[]) => {
      if (marks.length === 0) return;
      // The folder is made by no recursive mkdir: on a full disk Node reports ENOENT for that.
      if (!isThere) await makeFolder(folder);
      isThere = true;
      const touch = async (mark: string) => (await open(join(folder, mark), 'a', 0o600)).close();
      await Promise.all(marks.map(touch));
      made = [...marks];
    },
    sync: async (): Promise<void> => {
      await syncPath(folder);
      for (const mark of made) durable.add(mark);
    },
    /** The job has ended, and that is on record; or it is forgotten. */
    release: (jobId: string) => {
      letGo(jobId, (mark) => (REUSABLE.test(mark) ? spare.push(mark) : removeLater(mark)));
    },
    /** Removes the job's mark for good. @returns whether it had one, and it is gone */
    remove: async (jobId: string) => {
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
    /** The job is not on record after all: it does not matter when its mark goes. */
    drop: (jobId: string) => letGo(jobId, removeLater),
    /** The jobs that have one by their records. Some that nobody has are kept, the rest go. */
    adopt: (jobs: readonly { id: string; mark: string }[]) => {
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
