import { isEnded, type Job } from './job.ts';
import type { Queue } from './queue.ts';

/** Resolves when the job has ended, or is on record no more. */
export function whenEnded(
  { id }: Job,
  { get, onChange }: Pick<Queue, 'get' | 'onChange'>,
): Promise<void> {
  return new Promise((resolve) => {
    let unsubscribe: () => void = () => undefined;
    const look = (): void => {
      if (!isEnded(get(id)?.state ?? 'done')) return;
      unsubscribe();
      resolve();
    };
    unsubscribe = onChange(look);
    look();
  });
}
