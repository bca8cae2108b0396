import * as v from 'valibot';
import { parseJson } from '../../device/durable-file.ts';
import { isEnded, JOB_ENTRIES, JOB_STATES, jobId, unixNow, type Job } from '../job.ts';

/** A job as one line of the journal. What a newer version adds is kept. */
const FORMAT = 2;

export function toLine(job: Job): string {
  return JSON.stringify({ ...job, format: FORMAT });
}

/** What is no JSON may be a line that a power cut left torn. */
export const NO_JSON = 'it is no JSON';

/** What a line of the journal says. */
export type Entry =
  | { job: Job }
  /** The job is forgotten. */
  | { gone: string }
  /** A line that may not be believed, and why; of a certain job if it names one. */
  | { damage: string; id?: string; isOver?: boolean };

/** Records hold nothing that is nested deeper by itself; what is could end whoever walks it. */
const MOST_DEPTH = 32;

export function readEntry(line: string): Entry {
  const value = parseJson(line);
  if (value === undefined) return { damage: NO_JSON };
  if (!v.is(v.looseObject({}), value)) return { damage: 'it is no record' };
  const known = v.safeParse(v.looseObject({ id: jobId }), value);
  if (!known.success) return { damage: '"id" is missing or wrong' };
  const { id } = known.output;
  if (v.is(v.looseObject({ gone: v.literal(true) }), value)) return { gone: id };
  const isOver = v.is(v.looseObject({ state: v.picklist(JOB_STATES.filter(isEnded)) }), value);
  if (isDeeper(value, MOST_DEPTH)) return { damage: 'it is nested too deeply', id, isOver };
  const parsed = v.safeParse(record, value);
  if (parsed.success) return { job: parsed.output };
  return { damage: faultOf(parsed.issues[0]), id, isOver };
}

const record = v.pipe(
  v.looseObject({
    // First, since a record of another format lacks other members because of that.
    format: v.pipe(v.number(), v.integer(), v.minValue(FORMAT)),
    ...JOB_ENTRIES,
    isMarked: v.exactOptional(v.boolean()),
  }),
  v.check((job) => hasItsEnd(job), 'end'),
);

/** A job that has ended says when and how, and its exit code is 0 exactly if it is done. */
function hasItsEnd(job: Pick<Job, 'state' | 'stoppedAt' | 'exitCode'>): boolean {
  const { state, stoppedAt, exitCode: code } = job;
  if (!isEnded(state)) return true;
  return stoppedAt !== undefined && code !== undefined && (code === 0) === (state === 'done');
}

/** Names the member, and quotes nothing: what it holds may be secret. */
function faultOf(issue: v.BaseIssue<unknown>): string {
  if (issue.type === 'check') return `its ${issue.message} is missing or wrong`;
  const path = issue.path?.map(({ key }) => String(key)).join('.') ?? 'record';
  return `"${path.slice(0, 80)}" is missing or wrong`;
}

/** Without recursion, which a value that is nested deeply enough would end. */
function isDeeper(value: unknown, most: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; depth <= most; depth += 1) {
    level = level.flatMap((entry) =>
      typeof entry === 'object' && entry !== null ? (Object.values(entry) as unknown[]) : [],
    );
    if (level.length === 0) return false;
  }
  return true;
}

/** What stands for a record that cannot be believed: a job that has failed, and says why. */
export function damagedJob(id: string, damage: string): Job {
  const now = unixNow();
  return {
    id,
    kind: 'damaged',
    lane: '',
    subject: '',
    params: {},
    command: 'a task whose record is damaged',
    state: 'failed',
    createdAt: now,
    startedAt: now,
    stoppedAt: now,
    exitCode: 1,
    errorCode: 'unknown',
    error: `cannot go on: the record of the task is damaged: ${damage}`,
    remedy: 'Dismiss this task, and start again what it was for.',
    phase: 'steps',
    done: [],
    runs: 0,
    resumes: 0,
    logBytes: 0,
    isDamaged: true,
    memory: {},
  };
}
