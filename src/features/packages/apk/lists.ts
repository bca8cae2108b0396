import type { FailedFeed, FeedLists } from '../package-manager.ts';
import { readFeeds } from './feeds.ts';
import type { Locations } from './records/locations.ts';

/** Of what `apk update` prints: a line or two for each feed. */
const MOST_OUTPUT_BYTES = 256 * 1024;

/**
 * apk replaces the copy of a feed's index only by a good one, so nothing has to be kept; which feed
 * sent none, and why, stands in what it prints.
 */
export function createLists({ feeds }: Locations): FeedLists {
  return {
    backUp: () => Promise.resolve(),
    checkFetched: async (context) => {
      const configured = await readFeeds(feeds);
      const output = (await context?.printed(MOST_OUTPUT_BYTES)) ?? '';
      const failed = parseUpdate(output).map(({ url, reason }) => ({
        feed: configured.feeds.find((feed) => feed.url === url) ?? { name: 'feed', url },
        reason,
      }));
      return [...configured.garbage, ...failed] satisfies FailedFeed[];
    },
    forget: () => Promise.resolve(),
  };
}

/** What wget's exit codes say (wget(1)); uclient-fetch uses the same. */
const WGET: Record<string, string> = {
  '3': 'it could not be written',
  '4': 'the server cannot be reached, or breaks off',
  '5': 'its certificate is not trusted',
  '8': 'the server answers with an error',
};

/** `WARNING: updating and opening URL: REASON`, behind what wget ended with. */
export function parseUpdate(output: string): { url: string; reason: string }[] {
  const found: { url: string; reason: string }[] = [];
  let code: string | undefined;
  for (const line of output.split(/\r?\n/)) {
    code = /ERROR: wget: exited with error (\d+)/.exec(line)?.[1] ?? code;
    const [, url, text = ''] =
      /WARNING: (?:updating and opening|updating|opening) (\S+): (.+)$/.exec(line) ?? [];
    if (url === undefined) continue;
    const known = code === undefined ? undefined : WGET[code];
    found.push({ url, reason: known === undefined ? text : `${known} (${text})` });
    code = undefined;
  }
  return found;
}
