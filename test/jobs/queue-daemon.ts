import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { isEnded, type Job } from '../../src/jobs/job.ts';
import type { Plan, Step } from '../../src/jobs/plan.ts';
import { openQueue, request } from './open-queue.ts';

/**
 * A daemon of jobs alone: FOLDER, the point at which it kills itself, and the parameters of a job
 * to submit, as JSON. Without those it goes on with what the last one left, tells how the first job
 * ended, and ends. DEPOTD_LESS=ID leaves a step out of every plan, DEPOTD_MORE=ID puts one with
 * another id in front of that step, or with the same if DEPOTD_TWICE is set.
 */
const [folder = '', point = '', params] = process.argv.slice(2);
const { DEPOTD_LESS: less, DEPOTD_MORE: more, DEPOTD_TWICE: twice } = process.env;

const die = (): void => void process.kill(process.pid, 'SIGKILL');
const POINTS: Record<string, (job: Job) => boolean> = {
  started: ({ state, phase, process: mark }) =>
    state === 'running' && phase === 'steps' && mark === undefined,
  held: ({ phase, process: mark }) => phase === 'steps' && mark !== undefined,
  'repair begun': ({ phase, process: mark }) => phase === 'repair' && mark === undefined,
  'repair held': ({ phase, process: mark }) => phase === 'repair' && mark !== undefined,
};

const ofAnotherVersion = (steps: Step[]): Step[] =>
  steps
    .filter(({ id }) => id !== less)
    .flatMap((step) =>
      step.id === more
        ? [{ ...step, id: twice === undefined ? `${more}-new` : more }, step]
        : [step],
    );
const changePlan = ({ steps, repair, ...plan }: Plan): Plan => ({
  ...plan,
  steps: ofAnotherVersion(steps),
  repair: ofAnotherVersion(repair),
});

await writeFile(join(folder, 'daemon.pid'), String(process.pid));
const { queue } = await openQueue(folder, {
  changePlan,
  onSaving: ({ process: mark }) => {
    if (point === 'begun, not recorded' && mark !== undefined) die();
  },
  onSaved: (job) => {
    if (POINTS[point]?.(job) === true) die();
  },
  onCrash: () => {
    if (point === 'act') die();
  },
});
queue.resume();
if (params !== undefined) {
  await queue.submit(request('demo', JSON.parse(params) as Record<string, string>));
  if (point === 'accepted') die();
}
const timer = setInterval(() => {
  const [job] = queue.all();
  if (job === undefined || !isEnded(job.state)) return;
  clearInterval(timer);
  process.stdout.write(`${JSON.stringify(job)}\n`, () => process.exit(0));
}, 10);
