import { describeTask, taskRoutes } from './routes.ts';
import type { Feature, FeatureContext } from '../feature.ts';
import type { Metric } from '../../http/metrics-text.ts';
import { isEnded, type JobState } from '../../jobs/job.ts';

/** What people see of jobs: their state, their log as it comes, and stopping them. */
export function createTasksFeature(context: FeatureContext): Feature {
  const { queue, events } = context;
  queue.onChange((job) =>
    events.publish({ event: 'job', key: job.id, data: { task_id: job.id, ...describeTask(job) } }),
  );
  return {
    routes: () => taskRoutes(context),
    metrics: () => jobMetrics(context),
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

function jobMetrics({ queue }: FeatureContext): Metric[] {
  const jobs = queue.all();
  return [
    {
      name: 'depotd_jobs',
      type: 'gauge',
      help: 'Jobs on record, by state.',
      samples: STATES.map((state) => ({
        labels: { state },
        value: jobs.filter((job) => job.state === state).length,
      })),
    },
    {
      name: 'depotd_jobs_unfinished',
      type: 'gauge',
      help: 'Jobs that have not ended.',
      samples: [{ value: jobs.filter(({ state }) => !isEnded(state)).length }],
    },
  ];
}
