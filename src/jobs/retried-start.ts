import { reasonOf } from '../errors.ts';
import type { Log } from '../log.ts';

const RETRY_MS = 1000;

/**
 * A start that is tried again until it succeeds: a device that is short of descriptors or of memory
 * when the daemon begins is not without it for that.
 * @param begin may be called again after it failed
 * @returns settles after the first try
 */
export function retriedStart(
  begin: () => Promise<void>,
  { log, stopping }: { log: Log; stopping: AbortSignal },
): () => Promise<void> {
  const start = async (): Promise<void> => {
    if (stopping.aborted) return;
    await begin().catch((error: unknown) => {
      log.warn({ reason: reasonOf(error) }, 'cannot begin yet: trying again');
      setTimeout(() => void start(), RETRY_MS).unref();
    });
  };
  return start;
}
