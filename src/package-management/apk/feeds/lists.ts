import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readSmallFile } from '../../../device/owner-file.ts';
import type { FailedFeed, FeedLists } from '../../manager.ts';
import type { ProblemCode } from '../../problem.ts';
import { readFeeds } from './feeds.ts';
import { parsePem } from './index-key.ts';
import type { Locations } from '../database/locations.ts';

/** Of what `apk update` prints: a line or two for each feed. */
export const MOST_OUTPUT_BYTES = 256 * 1024;

/**
 * apk replaces the copy of a feed's index only by a good one, so nothing has to be kept; which feed
 * sent none, and why, stands in what it prints.
 */
export function createLists({ feeds, configuration }: Locations): FeedLists {
  return {
    backUp: () => Promise.resolve(),
    checkFetched: async (context) => {
      const configured = await readFeeds(feeds);
      const output = (await context?.printed(MOST_OUTPUT_BYTES)) ?? '';
      const faults = parseUpdate(output);
      const hint = faults.some(isUntrusted) ? await unusableKeys(join(configuration, 'keys')) : '';
      const failed = faults.map(({ url, reason, code }) => ({
        feed: configured.feeds.find((feed) => feed.url === url) ?? { name: 'feed', url },
        reason: isUntrusted({ code }) ? `${reason}${hint}` : reason,
        code,
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

interface FeedFault {
  url: string;
  reason: string;
  code: ProblemCode;
}

/** `WARNING: updating and opening URL: REASON`, behind what wget ended with. */
export function parseUpdate(output: string): FeedFault[] {
  const found: FeedFault[] = [];
  let code: string | undefined;
  for (const line of output.split(/\r?\n/)) {
    code = /ERROR: wget: exited with error (\d+)/.exec(line)?.[1] ?? code;
    const [, url, behind, text = ''] =
      /WARNING: (?:updating and opening|updating|opening) (\S+)(\r\S*)?: (.+)$/.exec(line) ?? [];
    if (url === undefined) continue;
    const known = behind === undefined ? WGET[code ?? ''] : WINDOWS;
    const reason = known === undefined ? text : `${known} (${text})`;
    found.push({
      url,
      reason,
      code: code === undefined ? codeOf(text) : 'download_failed',
    });
    code = undefined;
  }
  return found;
}

/** What apk says if its wget ended well, or was not there. */
function codeOf(text: string): ProblemCode {
  if (/UNTRUSTED signature|BAD signature/.test(text)) return 'signature';
  return /No such file|unexpected end of file/.test(text) ? 'download_failed' : 'damaged_package';
}

const WINDOWS =
  'its line in /etc/apk/repositories.d ends with a carriage return, as Windows writes it';

function isUntrusted({ code }: Pick<FeedFault, 'code'>): boolean {
  return code === 'signature';
}

/** Larger is no key. */
const MOST_KEY_BYTES = 64 * 1024;

/** A key that is damaged is passed over by apk without a word. */
async function unusableKeys(folder: string): Promise<string> {
  const names = await readdir(folder).catch(() => []);
  const found: string[] = [];
  for (const name of names.sort()) {
    const text = await readSmallFile(join(folder, name), MOST_KEY_BYTES);
    if (parsePem(text ?? '') === undefined) {
      found.push(`; ${join(folder, name)} holds no public key`);
    }
  }
  return found.slice(0, 3).join('');
}
