import { readdirSync } from 'node:fs';
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { syncPath } from '../../device/durable-file.ts';
import { systemCode } from '../../errors.ts';

/**
 * An empty file for each job on record. A job whose end cannot be written, for want of room, loses
 * its mark instead: unlink(2) finds room also where writing over old data does not, on
 * copy-on-write file systems (docs/reference/jobs.md). A job on record as not ended that has lost
 * its mark does not run again. Any other mark stays until its job is forgotten.
 */
export interface JobMarks {
  /** Whether the job had a mark when they were opened; true if the marks are all gone. */
  has: (id: string) => boolean;
  /** They are on the medium only after `sync`. */
  make: (ids: readonly string[]) => Promise<void>;
  sync: () => Promise<void>;
  /** Resolves when the mark is gone for good. */
  remove: (id: string) => Promise<void>;
  /** For jobs that are not on record, so that it does not matter when the mark goes. */
  removeLater: (id: string) => void;
  removeUnknown: (isKnown: (id: string) => boolean) => void;
}

export function openMarks(folder: string): JobMarks {
  const names = namesIn(folder);
  const known = names === undefined ? undefined : new Set(names);
  const fileOf = (id: string): string => join(folder, id);
  const remove = (id: string): Promise<void> => rm(fileOf(id), { force: true });
  let isThere = names !== undefined;
  const removeLater = (id: string): void => void remove(id).catch(() => undefined);
  return {
    has: (id) => known?.has(id) ?? true,
    make: async (ids) => {
      if (ids.length === 0) return;
      if (!isThere) await makeFolder(folder);
      isThere = true;
      await Promise.all(ids.map((id) => touch(fileOf(id))));
    },
    sync: () => syncPath(folder),
    remove: async (id) => {
      await remove(id);
      await syncPath(folder);
    },
    removeLater,
    removeUnknown: (isKnown) => {
      for (const id of names ?? []) if (!isKnown(id)) removeLater(id);
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
