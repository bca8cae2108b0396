import { existsSync } from 'node:fs';
import type { HealthReport } from '../../http/health-report.ts';
import { counter, gauge, type Metric } from '../../http/metrics-text.ts';
import { isEnded, JOB_STATES, type Job, type JobState } from '../../jobs/job.ts';
import { UBUS_SOCKET } from '../../config/environment.ts';
import { createSequence } from '../../device/concurrency-limit.ts';
import { sendUbusEvent } from '../../device/ubus/ubus-connection.ts';
import type { Feature, FeatureContext, TaskNotes } from '../feature.ts';
import { describeTask, taskRoutes } from './routes.ts';

/** What people see of jobs: their state, their log as it comes, and stopping them. */
export function createTasksFeature(context: FeatureContext, notes: TaskNotes): Feature {
  const { queue, events } = context;
  const announce = createAnnouncer();
  const ended = createEndedTasks();
  const known = new WeakMap<Job, JobState>(queue.all().map((job) => [job, job.state]));
  const publish = (job: Job): void =>
    events.publish({
      event: 'job',
      key: job.id,
      data: { task_id: job.id, ...describeTask(job), ...notes.describe(job) },
    });
  queue.onChange((job) => {
    // Most changes are of something else than the state.
    if (known.get(job) !== job.state) {
      known.set(job, job.state);
      announce(job);
      if (isEnded(job.state)) ended.count(job);
    }
    if (!isEnded(job.state)) publish(job);
    else void notes.refresh(job).finally(() => publish(job));
  });
  return {
    documentation: async () => (await import('./documentation.ts')).TASKS_DOCUMENTATION,
    routes: () => taskRoutes({ ...context, ...notes }),
    health: () => Promise.resolve(damageIn(context)),
    checks: async () => (await import('./checks.ts')).taskChecks(context),
    metrics: () => [...jobMetrics(context), ...ended.metrics()],
  };
}

/** A damaged record keeps nothing else from its work, and is named until it is dismissed. */
function damageIn({ queue }: FeatureContext): HealthReport {
  const damaged = queue
    .all()
    .filter(({ isDamaged, isDismissed }) => isDamaged === true && isDismissed !== true)
    .map(({ id, error }) => ({ task_id: id, reason: error ?? 'its record is damaged' }));
  return damaged.length === 0 ? {} : { facts: { damaged_tasks: damaged } };
}

function jobMetrics({ queue }: FeatureContext): Metric[] {
  const jobs = queue.all();
  return [
    gauge(
      'depotd_jobs',
      'Jobs on record, by state.',
      JOB_STATES.map((state) => ({
        labels: { state },
        value: jobs.filter((job) => job.state === state).length,
      })),
    ),
    gauge(
      'depotd_jobs_unfinished',
      'Jobs that have not ended.',
      jobs.filter(({ state }) => !isEnded(state)).length,
    ),
  ];
}

/** Tasks that have ended since the daemon began, by kind and state: so many, and how long. */
function createEndedTasks() {
  const ended = new Map<string, { kind: string; state: string; count: number; seconds: number }>();
  return {
    count: ({ kind, state, startedAt, stoppedAt }: Job): void => {
      const key = `${kind} ${state}`;
      const so = ended.get(key) ?? { kind, state, count: 0, seconds: 0 };
      const seconds = Math.max(0, (stoppedAt ?? 0) - (startedAt ?? stoppedAt ?? 0));
      ended.set(key, { ...so, count: so.count + 1, seconds: so.seconds + seconds });
    },
    metrics: (): Metric[] => {
      const samples = (figure: 'count' | 'seconds'): Metric['samples'] =>
        [...ended.values()].map(({ kind, state, ...figures }) => ({
          labels: { kind, state },
          value: figures[figure],
        }));
      return [
        counter(
          'depotd_tasks_ended_total',
          'Tasks that have ended, by kind and state.',
          samples('count'),
        ),
        counter(
          'depotd_tasks_duration_seconds_total',
          'Seconds that those tasks ran, by kind and state.',
          samples('seconds'),
        ),
      ];
    },
  };
}

const UBUS_TIMEOUT_MS = 2000;
/** More events than that wait only while ubusd hangs; who listens asks for the state anyway. */
const MOST_WAITING = 200;

/**
 * `depotd.task {id, state}` on ubus, in order. Nothing waits for it; what cannot be sent is lost.
 */
function createAnnouncer(): (job: Pick<Job, 'id' | 'state'>) => void {
  const inTurn = createSequence();
  let waiting = 0;
  return ({ id, state }) => {
    if (waiting >= MOST_WAITING || !existsSync(UBUS_SOCKET)) return;
    waiting += 1;
    const options = { socketPath: UBUS_SOCKET, timeoutMs: UBUS_TIMEOUT_MS };
    void inTurn(() => sendUbusEvent(options, 'depotd.task', { id, state }))
      .catch(() => undefined)
      .finally(() => (waiting -= 1));
  };
}
