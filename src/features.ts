import { DepotError } from './errors.ts';
import type { Job, Lane, Plan, Step } from './jobs/job.ts';
import type { JobRequest } from './jobs/queue.ts';
import { autoconfStep } from './features/packages/autoconf.ts';
import { migratePlan } from './features/container-data/plan.ts';
import { installPlan, removePlan, upgradePlan } from './features/packages/plans.ts';
import type { PackageTools } from './features/packages/deps.ts';
import { selfUpgradePlan } from './features/self-upgrade/plan.ts';
import { unrunPlan } from './features/uploads/undo-plan.ts';
import { updatePlan } from './features/packages/update-plan.ts';
import { uploadPlan } from './features/uploads/install-plan.ts';

/**
 * One kind of job: its lane, how it is called, and its steps. Adding a kind is adding an entry
 * here.
 */
interface Operation {
  lane: Lane;
  title: (subject: string) => string;
  plan: (tools: PackageTools, job: Job) => Plan;
  /** Kinds that undo this one on the same subject. */
  contradicts: readonly Kind[];
}

export type Kind =
  | 'install'
  | 'remove'
  | 'upgrade'
  | 'autoconf'
  | 'update'
  | 'upload'
  | 'unrun'
  | 'self-upgrade'
  | 'migrate';

const OPERATIONS: Record<Kind, Operation> = {
  install: {
    lane: 'package',
    title: (subject) => `install ${subject}`,
    plan: installPlan,
    contradicts: ['remove'],
  },
  remove: {
    lane: 'package',
    title: (subject) => `remove ${subject}`,
    plan: removePlan,
    contradicts: ['install', 'upgrade', 'autoconf', 'self-upgrade'],
  },
  upgrade: {
    lane: 'package',
    title: (subject) => `upgrade ${subject}`,
    plan: upgradePlan,
    contradicts: ['remove'],
  },
  autoconf: {
    lane: 'package',
    title: (subject) => `configure ${subject}`,
    plan: ({ packages }) => ({ steps: [autoconfStep(packages)], repair: [] }),
    contradicts: ['remove'],
  },
  update: { lane: 'package', title: () => 'opkg update', plan: updatePlan, contradicts: [] },
  upload: {
    lane: 'package',
    title: (subject) => `install ${subject}`,
    plan: uploadPlan,
    contradicts: [],
  },
  'self-upgrade': {
    lane: 'package',
    title: (subject) => `upgrade ${subject}`,
    plan: selfUpgradePlan,
    contradicts: ['remove'],
  },
  unrun: {
    lane: 'package',
    title: (subject) => `undo ${subject}`,
    plan: unrunPlan,
    contradicts: [],
  },
  migrate: {
    lane: 'container',
    title: (subject) => `move the container data to ${subject}`,
    plan: migratePlan,
    contradicts: [],
  },
};

/** What the queue is to be asked for. */
export function requestFor(
  kind: Kind,
  subject: string,
  params: Record<string, string>,
): JobRequest {
  const { lane, title } = OPERATIONS[kind];
  return { kind, lane, subject, params, command: title(subject) };
}

export function planOf(tools: PackageTools, job: Job): Plan {
  return operationOf(job.kind).plan(tools, job);
}

/** Whether two kinds of jobs on the same subject undo each other. */
export function contradicts(kind: string, other: string): boolean {
  return operationOf(kind).contradicts.some((name) => name === other);
}

export interface Progress {
  label: string;
  done: number;
  total: number;
  /** How much of the step is done, where it can be told. */
  percent?: number;
}

/** How far a job is: what it is at, and how many of its steps are done. */
export function progressOf(tools: PackageTools, job: Job): Progress {
  const steps = stepsOf(tools, job);
  const isOver = job.stoppedAt !== undefined;
  return {
    label: isOver ? job.state : (steps[job.step]?.name ?? 'end'),
    done: isOver && job.state === 'done' ? steps.length : job.step,
    total: steps.length,
    ...(job.percent === undefined ? {} : { percent: job.percent }),
  };
}

/**
 * A record that this version cannot read, of another kind or with other parameters, is still shown,
 * and so are those beside it.
 */
function stepsOf(tools: PackageTools, job: Job): Step[] {
  try {
    return [...planOf(tools, job)[job.phase]];
  } catch {
    return [];
  }
}

function operationOf(kind: string): Operation {
  if (!Object.hasOwn(OPERATIONS, kind)) {
    throw new DepotError(
      'internal',
      `cannot go on with a job of the kind "${kind}": this version does not know it`,
    );
  }
  return OPERATIONS[kind as Kind];
}
