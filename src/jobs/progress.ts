import type { Job } from './job.ts';
import { isEnded } from './states.ts';

/** How far a job is: what it is at, and how many of its steps are done. */
export interface Progress {
  label: string;
  done: number;
  total: number;
  /** How much of the step is done, if that can be told. */
  percent?: number;
}

/** From the record alone: plans are made for jobs that run, not for those who look at them. */
export function progressOf({ state, done, stepLabel, stepCount = 0, percent }: Job): Progress {
  return {
    label: isEnded(state) ? state : (stepLabel ?? 'end'),
    done: state === 'done' ? stepCount : done.length,
    total: stepCount,
    ...(percent === undefined ? {} : { percent }),
  };
}
