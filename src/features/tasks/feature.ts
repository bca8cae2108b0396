import { describeTask, taskRoutes } from './routes.ts';
import type { Feature, FeatureContext } from '../feature.ts';
import { isEnded, type JobState } from '../../jobs/job.ts';

/** What people see of jobs: their state, their log as it comes, and stopping them. */
export function createTasksFeature(context: FeatureContext): Feature {
  const { queue, events } = context;
  queue.onChange((job) =>
    events.publish({ event: 'job', key: job.id, data: { task_id: job.id, ...describeTask(job) } }),
  );
  return {
    routes: () => taskRoutes(context),
    metrics: () => [...jobLines(context)],
  };
}

const STATES: readonly JobState[] = [
  'queued',
  'running',
  'done',
  'failed',
  'stopped',
  'interrupted',
];

function jobLines({ queue }: FeatureContext): string[] {
  const jobs = queue.all();
  return [
    '# HELP depotd_jobs Jobs on record, by state.',
    '# TYPE depotd_jobs gauge',
    ...STATES.map(
      (state) =>
        `depotd_jobs{state="${state}"} ${jobs.filter((job) => job.state === state).length}`,
    ),
    '# HELP depotd_jobs_unfinished Jobs that have not ended.',
    '# TYPE depotd_jobs_unfinished gauge',
    `depotd_jobs_unfinished ${jobs.filter(({ state }) => !isEnded(state)).length}`,
  ];
}
