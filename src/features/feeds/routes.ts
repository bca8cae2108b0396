import * as v from 'valibot';
import { flag, isOn, mostCharacters } from '../../http/parameter-schemas.ts';
import { json, revalidated } from '../../http/respond.ts';
import { get, postTask, type Route } from '../../http/route.ts';
import { submissionResult } from '../../http/task-result.ts';
import { DepotError } from '../../errors.ts';
import type { FeatureContext } from '../feature.ts';
import type { FeedSettings } from '../../package-management/feed-settings.ts';
import { assertNew, findFeed } from './feed-plan.ts';
import type { FeedAnswer } from './documentation.ts';
import { HOST_PATTERN, PORT_PATTERN } from '../../http/host-patterns.ts';

export interface FeedRouteTools extends Pick<FeatureContext, 'submit'> {
  feeds: FeedSettings;
  read: () => Promise<FeedAnswer>;
}

/** What is known at once is refused at once; the task looks again. */
export function feedRoutes({ feeds, read, submit }: FeedRouteTools): Route[] {
  const begin = async (kind: string, name: string, params: Record<string, string>) =>
    json(submissionResult(await submit(kind, name, params)));
  return [
    get({
      path: 'admin/store/feeds',
      summary: 'Where packages come from, and the keys that are trusted',
      handle: async ({ context }) => revalidated(context.req.raw, JSON.stringify(await read())),
    }),
    postTask({
      path: 'admin/store/add_feed',
      summary:
        'Add a feed, after its list was fetched and its signature checked; the first mirror that ' +
        'has it comes in its place',
      params: {
        name: feedName,
        url: feedUrl,
        mirror: v.optional(v.pipe(v.array(feedUrl), v.maxLength(8, 'at most 8 are allowed'))),
        key: v.optional(keyText),
      },
      handle: async ({ params: { name, url, mirror = [], key } }) => {
        assertNew((await feeds.read()).feeds, { name, url: feeds.addressOf(url) });
        return begin('add_feed', name, {
          url,
          ...(mirror.length > 0 && { mirrors: mirror.join(' ') }),
          ...(key !== undefined && { key }),
        });
      },
    }),
    postTask({
      path: 'admin/store/remove_feed',
      summary: 'Remove a feed that was added, and its list',
      params: { name: knownName },
      handle: async ({ params: { name } }) => {
        findFeed((await feeds.read()).feeds, name, true);
        return begin('remove_feed', name, {});
      },
    }),
    postTask({
      path: 'admin/store/set_feed',
      summary:
        'Switch a feed on, after its list was fetched and checked, or off; with `upgrades=0` ' +
        'packages are installed from it and never upgraded',
      params: { name: knownName, enabled: v.optional(flag), upgrades: v.optional(flag) },
      handle: async ({ params: { name, enabled, upgrades } }) => {
        if (enabled === undefined && upgrades === undefined) {
          const message = 'cannot change the feed: a parameter is missing: enabled or upgrades';
          throw new DepotError('bad_request', message);
        }
        findFeed((await feeds.read()).feeds, name, false);
        return begin('set_feed', name, {
          ...(enabled !== undefined && { enabled: isOn(enabled) ? '1' : '0' }),
          ...(upgrades !== undefined && { upgrades: isOn(upgrades) ? '1' : '0' }),
        });
      },
    }),
  ];
}

/**
 * With opkg the name of a file, too: the feed's list, beside which `NAME.sig` has its signature.
 * Without lookahead: an end of four characters, one of which is another than in `.sig`.
 */
const CHARACTER = '[A-Za-z0-9._-]';
const NO_SIG =
  `[A-Za-z0-9_-]${CHARACTER}{3}|[.][A-Za-rt-z0-9._-]${CHARACTER}{2}` +
  `|[.]s[A-Za-hj-z0-9._-]${CHARACTER}|[.]si[A-Za-fh-z0-9._-]`;

const feedName = v.pipe(
  v.string(),
  v.maxLength(64, 'at most 64 characters are allowed'),
  v.regex(
    new RegExp(`^[A-Za-z0-9](?:${CHARACTER}{0,3}|${CHARACTER}*(?:${NO_SIG}))$`),
    'a name of a feed is letters, digits and . _ -, beginning with a letter or digit, and does ' +
      'not end with .sig',
  ),
);

/** A name as it stands in a file that somebody else wrote; it is only compared. */
const knownName = v.pipe(v.string(), v.minLength(1, 'a name is expected'), mostCharacters(200));

const HOST = `${HOST_PATTERN}[.]?(?::${PORT_PATTERN})?`;
const FEED_URL = new RegExp(`^https?://${HOST}(?:/[A-Za-z0-9._~%!&()*+,;=:@/-]*)?$`);

/**
 * A feed's address becomes a word of a line, an argument and the beginning of other addresses: no
 * blank, quote, backslash or `$`, no query and no fragment, and no password, which every user of
 * the device could read there.
 */
const feedUrl = v.pipe(
  v.string(),
  v.maxLength(512, 'at most 512 characters are allowed'),
  v.regex(FEED_URL, 'an address of http or https is expected, without a log-in, blanks, ? and #'),
);

/** Public keys are some hundred characters. */
const keyText = v.pipe(
  v.string(),
  mostCharacters(1024),
  v.regex(/^[\n\r\x20-\x7e]+$/, 'the text of a public key is expected'),
);
