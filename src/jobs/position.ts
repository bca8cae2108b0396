import { DepotError } from '../errors.ts';
import type { Job } from './job.ts';
import type { Plan, Step } from './plan.ts';

/**
 * Where a job stands in its plan, by the ids of its steps: the plan may have changed with the
 * version of depotd since the record was written.
 */

/** Puts the job at a step of its list; an index behind the last step stands for the end. */
export function moveTo(job: Job, steps: readonly Step[], index: number): void {
  const step = steps[index];
  job.done = steps.slice(0, index).map(({ id }) => id);
  job.stepCount = steps.length;
  if (step === undefined) {
    delete job.at;
    delete job.stepLabel;
  } else Object.assign(job, { at: step.id, stepLabel: step.label });
}

/**
 * The index of the step that the job is at, as this plan has it. A job whose step is not in the
 * plan any more goes on behind the last of its steps that is. One that has not begun is at the
 * first step.
 * @throws DepotError internal if the plan holds none of the steps that the job has behind it
 */
export function indexOfPosition(job: Readonly<Job>, steps: readonly Step[]): number {
  const at = indexOf(steps, job.at);
  if (at !== undefined) return at;
  if (job.done.length === 0) return 0;
  for (const id of job.done.toReversed()) {
    const index = indexOf(steps, id);
    if (index !== undefined) return index + 1;
  }
  throw new DepotError(
    'internal',
    'cannot go on: this version knows none of the steps that the job has done ' +
      `(${job.done.join(', ')})`,
  );
}

/** The index that a jump leads to. @throws DepotError internal if the plan has no such step */
export function indexOfJump(steps: readonly Step[], id: string): number {
  const index = indexOf(steps, id);
  if (index !== undefined) return index;
  throw new DepotError('internal', `cannot go back to the step "${id}": it is not in the plan`);
}

/** @throws DepotError internal if an id stands for two steps of one list */
export function checkPlan(plan: Plan): void {
  for (const steps of [plan.steps, plan.repair]) {
    const twice = steps.find(({ id }, index) => indexOf(steps, id) !== index);
    if (twice !== undefined) {
      throw new DepotError('internal', `cannot run a plan with two steps of the id "${twice.id}"`);
    }
  }
}

function indexOf(steps: readonly Step[], id: string | undefined): number | undefined {
  const index = steps.findIndex((step) => step.id === id);
  return index < 0 ? undefined : index;
}
