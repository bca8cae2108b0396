import { DepotError } from '../errors.ts';
import type { Job, Lane } from './job.ts';
import type { Plan } from './plan.ts';
import type { JobRequest } from './queue.ts';

/** One kind of job, as a feature brings it. */
export interface JobKind {
  /** Jobs of one lane run one at a time; features that share a resource share its lane. */
  lane: Lane;
  /** What people read of the job: `install NAME`. */
  title: (subject: string) => string;
  /**
   * Whether a request for such a job is taken at all; default always.
   * @throws DepotError that the request is answered with
   */
  admit?: () => Promise<void>;
  /** A pure function of the job's kind, subject and parameters. */
  plan: (job: Job) => Plan;
  /** Kinds that undo this one on the same subject. It holds both ways, so one of two names it. */
  contradicts?: readonly string[];
}

/** All kinds of jobs, by the name that stands in the journal. */
export function createJobKinds() {
  const known = new Map<string, JobKind>();
  const kindOf = (name: string): JobKind => {
    const kind = known.get(name);
    if (kind !== undefined) return kind;
    const message = `cannot go on with a job of the kind "${name}": this version does not know it`;
    throw new DepotError('internal', message);
  };
  /** @throws DepotError internal if this version knows no such kind, or not in the job's lane */
  const planOf = (job: Job): Plan => {
    const { lane, plan } = kindOf(job.kind);
    if (job.lane === lane) return plan(job);
    // In another lane the job would run beside those that it must not run beside.
    const message = `cannot go on: no ${job.kind} runs in the lane "${job.lane}"`;
    throw new DepotError('internal', message);
  };
  return {
    /** @throws Error if another feature has brought a kind of that name */
    add: (kinds: Readonly<Record<string, JobKind>>): void => {
      for (const [name, kind] of Object.entries(kinds)) {
        if (known.has(name)) throw new Error(`cannot add the kind of job "${name}" twice`);
        known.set(name, kind);
      }
    },
    /** What the queue is to be asked for. */
    request: (kind: string, subject: string, params: Record<string, string>): JobRequest => {
      const { lane, title } = kindOf(kind);
      return { kind, lane, subject, params, command: title(subject) };
    },
    /** @throws DepotError if no such job can be taken for the moment */
    admit: async (kind: string): Promise<void> => kindOf(kind).admit?.(),
    planOf,
    /** Whether two kinds of jobs on the same subject undo each other. */
    contradicts: (kind: string, other: string): boolean =>
      known.get(kind)?.contradicts?.includes(other) === true ||
      known.get(other)?.contradicts?.includes(kind) === true,
  };
}
