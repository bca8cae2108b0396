import { counter, type Metric } from '../../http/metrics-text.ts';
import type { Job } from '../../jobs/job.ts';

/** Tasks that have ended since the daemon began, by kind and state: so many, and how long. */
export function createEndedTasks() {
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
