import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { parseJson } from '../../device/durable-file.ts';
import { readSmallBytes } from '../../device/owner-file.ts';
import { isPackageName } from '../../package-management/names.ts';
import { shownName } from './receive.ts';
import type { RunRecord, RunRecords } from './run-records.ts';

/** Seconds, then the MD5 of the file. */
const FILE_NAME = /^(\d{1,12}-[0-9a-f]{32})\.txt$/;
const MOST_FILES = 200;
const MOST_BYTES = 64 * 1024;

const head = v.object({
  id: v.string(),
  ts: v.pipe(v.number(), v.integer(), v.minValue(0)),
  md5: v.string(),
  file: v.string(),
});

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

/** None if the file is not as iStore writes it. */
async function readRecord(file: string, id: string): Promise<RunRecord[]> {
  const text = (await readSmallBytes(file, MOST_BYTES))?.toString() ?? '';
  const [first = '', ...lines] = text.split('\n');
  const parsed = v.safeParse(head, parseJson(first));
  if (!parsed.success || parsed.output.id !== id) return [];
  const { ts, md5, file: name } = parsed.output;
  return [{ id, ts, md5, file: shownName(name), packages: lines.filter(isPackageName) }];
}
