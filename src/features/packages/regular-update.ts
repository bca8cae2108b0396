import { readFile } from 'node:fs/promises';
import { isEnded } from '../../jobs/job.ts';
import type { FeatureContext } from '../feature.ts';
import type { FeedSettings } from '../../package-management/feed-settings.ts';
import { readListsState } from '../../package-management/failed-feeds.ts';

/**
 * Fetches the lists of the feeds by itself, `packages.update_every_h` after they were fetched last,
 * or soon after a boot that lost them. Invariants:
 *  - the minute is drawn: a feed is not asked by all devices at once;
 *  - nothing is begun without a way to the internet, nor while lists are fetched anyway;
 *  - after a fetch that failed an hour passes;
 *  - a clock that is set, by years after a boot without a battery, changes none of that.
 */
export type RegularUpdate = ReturnType<typeof createRegularUpdate>;

interface RegularUpdateOptions extends Pick<FeatureContext, 'queue' | 'submit'> {
  feeds: Pick<FeedSettings, 'read' | 'stateOf'>;
  /** Hours between two fetches; 0: never. */
  everyHours: () => number;
  hasNetwork?: () => Promise<boolean>;
  /** Milliseconds since 1970. */
  now?: () => number;
  /** Milliseconds that pass whatever becomes of the clock. */
  elapsed?: () => number;
  /** Draws a number from 0 to 1. */
  draw?: () => number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Wait after a boot: not all devices of a street that had no power at once. */
const FIRST_MS = 10 * MINUTE_MS;

export function createRegularUpdate({
  feeds,
  queue,
  submit,
  everyHours,
  hasNetwork = hasDefaultRoute,
  now = Date.now,
  elapsed = () => performance.now(),
  draw = Math.random,
}: RegularUpdateOptions) {
  const startedAt = elapsed();
  let share = draw();
  let triedAt = -Infinity;
  let timer: NodeJS.Timeout | undefined;

  /** Milliseconds until it is time. */
  const waits = async (): Promise<number> => {
    const every = everyHours() * HOUR_MS;
    if (every === 0) return Infinity;
    const { state, updatedAt } = await readListsState(feeds, now());
    if (updatedAt === undefined && state !== 'missing') return Infinity;
    const age = updatedAt === undefined ? -Infinity : now() - updatedAt * 1000;
    // Nobody knows the age of lists that were fetched by a clock that was ahead.
    const wished = age < -HOUR_MS ? 0 : every + share * HOUR_MS - age;
    const earliest = Math.max(startedAt + share * FIRST_MS, triedAt + HOUR_MS);
    return Math.max(wished, earliest - elapsed());
  };
  const check = async (): Promise<void> => {
    const isUnderWay = queue.all().some(({ kind, state }) => kind === 'update' && !isEnded(state));
    if (isUnderWay || (await waits()) > 0 || !(await hasNetwork())) return;
    triedAt = elapsed();
    share = draw();
    await submit('update', '', {});
  };
  return {
    /** Looks whether it is time. */
    check,
    start: (): void => {
      // A fetch that cannot be begun, as while the daemon stops, is tried again.
      timer = setInterval(() => void check().catch(() => undefined), MINUTE_MS).unref();
    },
    close: (): void => clearInterval(timer),
  };
}

/** proc_net(5): the destination of a default route is all zeros. */
async function hasDefaultRoute(): Promise<boolean> {
  const files = ['/proc/net/route', '/proc/net/ipv6_route'];
  const texts = files.map((path) => readFile(path, 'latin1').catch(() => ''));
  const [four = '', six = ''] = await Promise.all(texts);
  return /^\S+\s+00000000\s/m.test(four) || /^0{32} 00 (?!.*\slo$)/m.test(six);
}
