import * as v from 'valibot';
import { flag, isOn } from '../../http/parameter-schemas.ts';
import { json, revalidated } from '../../http/respond.ts';
import { get, postTask, type Route } from '../../http/route.ts';
import { submissionResult } from '../../http/task-result.ts';
import { DepotError } from '../../errors.ts';
import type { FeatureContext } from '../feature.ts';
import type { FeedSettings } from '../../package-management/feed-settings.ts';
import { feedName, feedUrl, keyText, knownName } from './parameters.ts';
import { assertNew, findFeed } from './plan.ts';
import type { FeedAnswer } from './documentation.ts';

export interface FeedRouteTools extends Pick<FeatureContext, 'submit'> {
  feeds: FeedSettings;
  read: () => Promise<FeedAnswer>;
}

/** What is known at once is refused at once; the task looks again. */
export function feedRoutes({ feeds, read, submit }: FeedRouteTools): Route[] {
  const begin = async (
    kind: string,
    name: string,
    params: Record<string, string>,
  ): Promise<Response> => json(submissionResult(await submit(kind, name, params)));
  return [
    get({
      path: 'admin/store/feeds',
      summary: 'Where packages come from, and the keys that are trusted',
      params: {},
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
          throw new DepotError(
            'bad_request',
            'cannot change the feed: a parameter is missing: enabled or upgrades',
          );
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
