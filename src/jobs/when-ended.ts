import { isEnded, type Job } from './job.ts';
import type { Queue } from './queue.ts';

/**
 * Resolves when the job has ended, or is on record no more.
 * @param signal also when that aborts
 */
export function whenEnded(
  { id }: Job,
  { get, onChange }: Pick<Queue, 'get' | 'onChange'>,
  signal?: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    let unsubscribe: () => void = () => undefined;
    const look = (): void => {
      if (signal?.aborted !== true && !isEnded(get(id)?.state ?? 'done')) return;
      signal?.removeEventListener('abort', look);
      unsubscribe();
      resolve();
    };
    unsubscribe = onChange(look);
    signal?.addEventListener('abort', look);
    look();
  });
}
