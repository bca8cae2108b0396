import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { createSequence } from '../../../device/concurrency-limit.ts';
import { parseJson, replaceFile, syncPath } from '../../../device/durable-file.ts';
import { ifThere } from '../../../errors.ts';
import { unixNow } from '../../../jobs/job.ts';
import { isOpen, recordSchema, type ActionRecord, type NewRecord } from './action-record.ts';

export type ActionRecords = Awaited<ReturnType<typeof openRecords>>;

/** Beyond it the oldest that are over, and reported, go: flash is small. */
const MOST_RECORDS = 200;
/** Beyond it, also those whose server does not want their end. */
const MOST_UNREPORTED = 400;
const FORGOTTEN_FILE = 'forgotten.json';
const FILE_NAME = /^([0-9a-f]{64})\.json$/;

/** Actions, a file each. Of those that went to make room it has the highest number per server. */
export async function openRecords(folder: string) {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const [known, forgotten] = [await readAll(folder), await readForgotten(folder)];
  const fileOf = (key: string): string => join(folder, `${key}.json`);
  const inTurn = createSequence();
  const write = async (record: ActionRecord): Promise<void> => {
    const kept = isOpen(record) ? record : withoutToken(record);
    await replaceFile(fileOf(record.key), `${JSON.stringify(kept)}\n`);
    known.set(record.key, kept);
  };
  const all = (): ActionRecord[] => [...known.values()];
  const prune = async (): Promise<void> => {
    const over = all().filter((record) => !isOpen(record) && record.from !== '');
    const reported = over.filter(({ isReported }) => isReported);
    const others = over.filter(({ isReported }) => !isReported);
    const going = reported.slice(0, Math.max(0, known.size - MOST_RECORDS));
    going.push(...others.slice(0, Math.max(0, known.size - going.length - MOST_UNREPORTED)));
    if (going.length === 0) return;
    for (const { from, actionId } of going) {
      if (isNumber(actionId) && !isUpTo(actionId, forgotten[from])) forgotten[from] = actionId;
    }
    // Ahead of the records: an action that was done is in one or the other.
    await replaceFile(join(folder, FORGOTTEN_FILE), `${JSON.stringify(forgotten)}\n`);
    for (const { key } of going) {
      await rm(fileOf(key), { force: true });
      known.delete(key);
    }
  };
  return {
    find: (key: string) => known.get(key),
    /** Up to which id actions of this server have no record any more, if that one is among them. */
    forgottenUpTo: ({ from, actionId }: Pick<ActionRecord, 'from' | 'actionId'>) =>
      isNumber(actionId) && isUpTo(actionId, forgotten[from]) ? forgotten[from] : undefined,
    /** Oldest first. */
    all,
    /** Resolves when the record is on the medium. */
    add: (record: NewRecord): Promise<void> =>
      inTurn(async () => {
        const greatest = Math.max(0, ...all().map(({ number }) => number));
        await write({ ...v.parse(recordSchema, record), number: greatest + 1 });
        // The folder may be as new as the file.
        await syncPath(join(folder, '..'));
        await prune();
      }),
    /**
     * Resolves with the record when the change is on the medium; undefined if there is none.
     * Changes follow one another.
     */
    update: (key: string, change: Partial<ActionRecord>): Promise<ActionRecord | undefined> =>
      inTurn(async () => {
        const record = known.get(key);
        if (record === undefined) return undefined;
        // An end never changes.
        const whole = { ...record, ...change, end: record.end ?? change.end };
        await write(whole);
        return whole;
      }),
  };
}

const forgottenSchema = v.record(v.string(), v.pipe(v.string(), v.regex(/^\d{1,64}$/)));

/** A damaged file counts as none, as before the first record went. */
async function readForgotten(folder: string): Promise<Record<string, string>> {
  const found = v.safeParse(forgottenSchema, await readKnown(join(folder, FORGOTTEN_FILE)));
  return found.success ? found.output : {};
}

/** What cannot be read for the moment is no reason to begin an action again. */
async function readKnown(file: string): Promise<unknown> {
  return parseJson(await readFile(file, 'utf8').catch(ifThere('')));
}

/** The record of an action that is over: its token is in use by now, or never will be. */
function withoutToken(record: ActionRecord): ActionRecord {
  const { work } = record;
  return work?.token === undefined ? record : { ...record, work: { ...work, token: '' } };
}

function isNumber(id: string): boolean {
  return /^\d+$/.test(id);
}

function isUpTo(id: string, highest: string | undefined): boolean {
  return highest !== undefined && BigInt(id) <= BigInt(highest);
}

async function readAll(folder: string): Promise<Map<string, ActionRecord>> {
  const records: ActionRecord[] = [];
  for (const name of await readdir(folder)) {
    const key = FILE_NAME.exec(name)?.[1];
    if (key === undefined) continue;
    const found = v.safeParse(recordSchema, await readKnown(join(folder, name)));
    records.push(found.success && found.output.key === key ? found.output : damaged(key));
  }
  records.sort((a, b) => a.number - b.number || a.createdAt - b.createdAt);
  return new Map(records.map((record) => [record.key, record]));
}

/** Stands for a damaged record: nobody knows how far it came, so that it is not begun again. */
function damaged(key: string): ActionRecord {
  return v.parse(recordSchema, {
    key,
    from: '',
    actionId: 'unknown',
    title: 'an action whose record is damaged',
    createdAt: 0,
    attempts: 0,
    isReported: true,
    end: {
      result: 'failure',
      message: 'cannot do the action: its record on this device is damaged',
      errorCode: 'interrupted',
      at: unixNow(),
    },
  });
}
