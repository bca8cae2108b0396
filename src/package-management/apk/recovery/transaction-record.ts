import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { overwriteFile, parseJson, replaceFile } from '../../../device/durable-file.ts';
import { byName } from '../../names.ts';
import type { Locations } from '../database/apk-locations.ts';
import { plannedChange } from '../planning/simulation.ts';

const record = v.object({
  jobId: v.string(),
  verb: v.picklist(['install', 'upgrade', 'remove']),
  names: v.array(v.string()),
  /** The package file that is installed, if it is one. */
  file: v.optional(v.object({ path: v.string(), name: v.string() })),
  changes: v.array(plannedChange),
  /** Copies of all package files, if any package is replaced and the disk has room for them. */
  kept: v.optional(v.array(v.string()), []),
  /** Files of packages that go, below /etc, which their owner had removed before. */
  absent: v.optional(v.array(v.string()), []),
  /** Folders that files are written into. */
  folders: v.optional(v.array(v.string()), []),
  /** Files and folders that were not there before, of packages that are installed anew. */
  created: byName(v.object({ files: v.array(v.string()), folders: v.array(v.string()) })),
});

/**
 * What a command of apk is about to do. It stands on flash before the command begins, since apk
 * records nothing until the end: what it leaves when it is cut off is found by this.
 */
export type TransactionRecord = v.InferOutput<typeof record>;

/** A longer record, as of a package with many files, does not stay on flash. */
const KEPT_BYTES = 16 * 1024;

/**
 * The record is the first line of its file, which stays for the next job: written over in its
 * place it takes one write in place of five. Half of one is none, as its command has not begun.
 */
export function createTransactionRecords({ own }: Locations) {
  const file = join(own, 'transaction.json');
  return {
    write: async (entry: TransactionRecord): Promise<void> => {
      const text = `${JSON.stringify(entry)}\n`;
      // Something else stands in its place, or its blocks are bad.
      await overwriteFile(file, text).catch(() => replaceFile(file, text));
    },
    /** The record of this job; undefined if there is none, or it is another version's. */
    read: async (jobId: string): Promise<TransactionRecord | undefined> => {
      const [line = ''] = (await readFile(file, 'utf8').catch(() => '')).split('\n', 1);
      const found = v.safeParse(record, parseJson(line));
      return found.success && found.output.jobId === jobId ? found.output : undefined;
    },
    removeLarge: async (): Promise<void> => {
      const { size } = (await stat(file).catch(() => undefined)) ?? { size: 0 };
      if (size > KEPT_BYTES) await rm(file, { force: true });
    },
  };
}
