import { basename, relative } from 'node:path';
import { isThere } from '../../device/is-there.ts';
import type { Paths } from '../../device/paths.ts';
import type { DeviceCheck, Finding } from '../device-check.ts';
import type { FeedAnswer } from './documentation.ts';
import { REMEDIES } from '../../package-management/problem.ts';
import { timeText } from '../../format-time.ts';

/** Whether there are lists to choose packages from, as they were fetched last. */
export function feedChecks(
  read: () => Promise<FeedAnswer>,
  { root, onDevice }: Pick<Paths, 'root' | 'onDevice'>,
): readonly DeviceCheck[] {
  const isOfFirmware = (file: string): Promise<boolean> =>
    isThere(onDevice(`/rom/${relative(root, file)}`));
  return [
    { id: 'feeds', run: async () => judgeFeeds(await read()) },
    { id: 'feed-keys', run: async () => judgeKeys(await read(), isOfFirmware) },
  ];
}

/** The holder of a key that no feed needs may still sign a list for this device. */
export async function judgeKeys(
  { feeds, keys }: FeedAnswer,
  isOfFirmware: (file: string) => Promise<boolean>,
): Promise<Finding> {
  const used = new Set(feeds.flatMap(({ key }) => (key === undefined ? [] : [key])));
  // A list that is not there may be signed by any.
  if (feeds.some(({ enabled, key }) => enabled && key === undefined)) {
    return { state: 'skipped', message: 'not every feed says which key signed its list' };
  }
  const unused: string[] = [];
  for (const { id, file } of keys) {
    const isUsed = used.has(id) || used.has(basename(file));
    if (!isUsed && !(await isOfFirmware(file))) unused.push(file);
  }
  if (unused.length === 0) return { state: 'ok', message: 'no key is trusted that no feed uses' };
  return {
    state: 'warning',
    message: `keys are trusted that no feed uses: ${unused.join(', ')}`,
    remedy: 'remove the keys that you do not know',
  };
}

export function judgeFeeds({ feeds, problems }: FeedAnswer): Finding {
  const [garbage] = problems;
  if (garbage !== undefined) {
    return {
      state: 'error',
      message: `${garbage.file}:${garbage.line} (${garbage.text}): ${garbage.reason}`,
      remedy: 'mend or remove that line',
    };
  }
  const enabled = feeds.filter((feed) => feed.enabled);
  if (enabled.length === 0) {
    return {
      state: 'warning',
      message: 'no feed is set up, so that nothing can be installed',
      remedy: 'add a feed, or switch one on',
    };
  }
  const missing = enabled.filter(({ updated_at: at }) => at === undefined);
  const failed = enabled.filter(({ error }) => error !== undefined);
  if (failed.length > 0) {
    const each = failed.map(({ name, url, error = '' }) => `${name} (${url}): ${error}`);
    const [{ remedy = REMEDIES.no_lists } = {}] = failed;
    return { state: 'warning', message: `at the last update, ${each.join('; ')}`, remedy };
  }
  if (missing.length > 0) {
    const names = missing.map(({ name }) => name).join(', ');
    const remedy = REMEDIES.no_lists;
    return { state: 'warning', message: `there is no list of ${names}`, remedy };
  }
  // One feed of several may be meant to be empty.
  if (enabled.every(({ packages }) => packages === 0)) {
    return {
      state: 'warning',
      message: 'the lists of the feeds name no package that fits this device',
      remedy: 'update the lists; a log-in page of the network may have answered for the feeds',
    };
  }
  const oldest = Math.min(...enabled.map(({ updated_at: at = 0 }) => at));
  const since = timeText(oldest * 1000);
  const lists =
    enabled.length === 1 ? 'the list of the feed is' : `the lists of ${enabled.length} feeds are`;
  return { state: 'ok', message: `${lists} there, since ${since}` };
}
