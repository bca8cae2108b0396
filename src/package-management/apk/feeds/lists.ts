import { join } from 'node:path';
import type { FeedLists } from '../../manager.ts';
import type { ProblemCode } from '../../problem.ts';
import { readFeeds } from './feeds.ts';
import { readKeyFiles } from './index-key.ts';
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
      const hint = faults.some(({ code }) => code === 'signature')
        ? await unusableKeys(join(configuration, 'keys'))
        : '';
      const failed = faults.map(({ url, reason, code }) => ({
        feed: configured.feeds.find((feed) => feed.url === url) ?? { name: 'feed', url },
        reason: code === 'signature' ? `${reason}${hint}` : reason,
        code,
      }));
      return [...configured.garbage, ...failed];
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
export function parseUpdate(output: string): { url: string; reason: string; code: ProblemCode }[] {
  const found: ReturnType<typeof parseUpdate> = [];
  let code: string | undefined;
  for (const line of output.split(/\r?\n/)) {
    code = /ERROR: wget: exited with error (\d+)/.exec(line)?.[1] ?? code;
    const [, url, behind, text = ''] =
      /WARNING: (?:updating and opening|updating|opening) (\S+)(\r\S*)?: (.+)$/.exec(line) ?? [];
    if (url === undefined) continue;
    const known = behind === undefined ? WGET[code ?? ''] : WINDOWS;
    const reason = known === undefined ? text : `${known} (${text})`;
    found.push({ url, reason, code: code === undefined ? codeOf(text) : 'download_failed' });
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

/** A key that is damaged is passed over by apk without a word. */
async function unusableKeys(folder: string): Promise<string> {
  const unusable = (await readKeyFiles(folder)).filter(({ key }) => key === undefined);
  const said = unusable.map(({ file }) => `; ${file} holds no public key`);
  return said.slice(0, 3).join('');
}
