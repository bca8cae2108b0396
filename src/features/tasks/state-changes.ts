import type { Job } from '../../jobs/job.ts';
import type { JobState } from '../../jobs/states.ts';
import type { FeatureContext } from '../feature.ts';

const MOST_KNOWN = 5000;

/** Calls back when a job has come to another state; most changes are of something else. */
export function onStateChange(
  { queue }: Pick<FeatureContext, 'queue'>,
  listener: (job: Job) => void,
): void {
  const known = new Map<string, JobState>(queue.all().map(({ id, state }) => [id, state]));
  queue.onChange((job) => {
    if (known.get(job.id) === job.state) return;
    known.delete(job.id);
    known.set(job.id, job.state);
    const [oldest] = known.keys();
    if (known.size > MOST_KNOWN && oldest !== undefined) known.delete(oldest);
    listener(job);
  });
}
