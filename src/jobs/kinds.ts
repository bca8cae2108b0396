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
export interface JobKinds {
  /** @throws Error if another feature has brought a kind of that name */
  add: (kinds: Readonly<Record<string, JobKind>>) => void;
  /** What the queue is to be asked for. */
  request: (kind: string, subject: string, params: Record<string, string>) => JobRequest;
  /** @throws DepotError if no such job can be taken for the moment */
  admit: (kind: string) => Promise<void>;
  /** @throws DepotError internal if this version knows no such kind, or not in the job's lane */
  planOf: (job: Job) => Plan;
  /** Whether two kinds of jobs on the same subject undo each other. */
  contradicts: (kind: string, other: string) => boolean;
}

export function createJobKinds(): JobKinds {
  const known = new Map<string, JobKind>();
  const kindOf = (name: string): JobKind => {
    const kind = known.get(name);
    if (kind !== undefined) return kind;
    throw new DepotError(
      'internal',
      `cannot go on with a job of the kind "${name}": this version does not know it`,
    );
  };
  const planOf = (job: Job): Plan => {
    const { lane, plan } = kindOf(job.kind);
    // It would run beside those that it must not run beside.
    if (job.lane !== lane) {
      throw new DepotError(
        'internal',
        `cannot go on: no ${job.kind} runs in the lane "${job.lane}"`,
      );
    }
    return plan(job);
  };
  return {
    add: (kinds) => {
      for (const [name, kind] of Object.entries(kinds)) {
        if (known.has(name)) throw new Error(`cannot add the kind of job "${name}" twice`);
        known.set(name, kind);
      }
    },
    request: (kind, subject, params) => {
      const { lane, title } = kindOf(kind);
      return { kind, lane, subject, params, command: title(subject) };
    },
    admit: async (kind) => kindOf(kind).admit?.(),
    planOf,
    contradicts: (kind, other) =>
      known.get(kind)?.contradicts?.includes(other) === true ||
      known.get(other)?.contradicts?.includes(kind) === true,
  };
}
