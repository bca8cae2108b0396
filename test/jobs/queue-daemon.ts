import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { isEnded, type Job } from '../../src/jobs/job.ts';
import type { Plan, Step } from '../../src/jobs/plan.ts';
import { openQueue, request } from './open-queue.ts';

/**
 * A daemon of jobs alone: FOLDER, the point at which it kills itself, and the parameters of jobs to
 * submit, each as JSON. Without those it goes on with what the last one left. It says when it has
 * taken up the first job, tells how each job ended when all have, and ends. DEPOTD_LESS=ID leaves a
 * step out of every plan, DEPOTD_MORE=ID puts one with another id in front of that step, or with
 * the same if DEPOTD_TWICE is set.
 */
const [folder = '', point = '', ...texts] = process.argv.slice(2);
const { DEPOTD_LESS: less, DEPOTD_MORE: more, DEPOTD_TWICE: twice } = process.env;
const requests = texts.map((text) => JSON.parse(text) as Record<string, string>);

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
const changePlan = ({ steps, repair, ...plan }: Plan): Plan => {
  if (point === 'unknown kind') throw new Error('cannot go on: the kind is not known');
  return { ...plan, steps: ofAnotherVersion(steps), repair: ofAnotherVersion(repair) };
};

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
for (const [index, params] of requests.entries()) {
  await queue.submit(request(index === 0 ? 'demo' : `demo-${index}`, params));
}
if (requests.length > 0 && point === 'accepted') die();
let isPrinted = false;
const timer = setInterval(() => {
  const jobs = queue.all();
  const [first] = jobs;
  if (first === undefined) return;
  if (!isPrinted && first.process !== undefined) {
    isPrinted = true;
    process.stdout.write('taken up\n');
    if (point === 'stop when begun') setTimeout(() => void queue.stop(first.id), 300);
  }
  if (!jobs.every(({ state }) => isEnded(state))) return;
  clearInterval(timer);
  process.stdout.write(jobs.map((job) => `${JSON.stringify(job)}\n`).join(''), () =>
    process.exit(0),
  );
}, 10);
