import type { EntryStatus } from './entry-status.ts';

/**
 * Statuses that may be given again: of each name only the newest, and that under the version that
 * it was asked under.
 */
export interface StatusCache {
  get: (name: string, version: string) => EntryStatus | undefined;
  put: (name: string, entry: { version: string; status: EntryStatus; askedAt: number }) => void;
}

const KEPT_MS = 30_000;
/** Characters of all that is kept, so that many host names fill no memory. */
const MOST_CHARACTERS = 2 * 1024 ** 2;

/**
 * What is too old, or too much, goes, the oldest first. An age counts from when
 * the script began (`performance.now()`).
 */
export function createStatusCache(): StatusCache {
  const entries = new Map<
    string,
    { version: string; status: EntryStatus; until: number; size: number }
  >();
  let total = 0;
  const remove = (name: string): void => {
    total -= entries.get(name)?.size ?? 0;
    entries.delete(name);
  };
  const clean = (): void => {
    for (const [name, { until }] of entries) {
      if (until <= performance.now() || total > MOST_CHARACTERS) remove(name);
    }
  };
  return {
    get: (name, version) => {
      clean();
      const entry = entries.get(name);
      return entry?.version === version ? entry.status : undefined;
    },
    put: (name, { version, status, askedAt }) => {
      remove(name);
      const size = JSON.stringify(status).length + version.length + name.length;
      entries.set(name, { version, status, until: askedAt + KEPT_MS, size });
      total += size;
      clean();
    },
  };
}
