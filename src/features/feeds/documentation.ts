import * as v from 'valibot';
import * as api from '../../http/openapi/documentation.ts';

const feed = api.titled('Feed', {
  name: v.string(),
  url: v.string(),
  kind: api.described(
    'system: came with the firmware, and cannot be removed',
    v.picklist(['system', 'custom']),
  ),
  enabled: v.boolean(),
  upgrades: api.optional('false: nothing is upgraded from it; absent otherwise', v.boolean()),
  updated_at: api.optional('of its list, Unix seconds', api.unixSeconds),
  packages: api.optional('that this device could install', api.integer),
  error: api.optional('of the last update of the lists', v.string()),
  remedy: api.optional('what can be done about that', v.string()),
  key: api.optional('id of the key that signed its list', v.string()),
});
export type FeedItem = v.InferOutput<typeof feed>;

const feeds = api.titled('FeedList', {
  feeds: v.array(feed),
  keys: v.array(v.object({ id: v.string(), file: v.string() })),
  problems: api.described(
    'lines that the package manager does not understand',
    v.array(
      v.object({ file: v.string(), line: api.integer, text: v.string(), reason: v.string() }),
    ),
  ),
});
export type FeedAnswer = v.InferOutput<typeof feeds>;

export const FEEDS_DOCUMENTATION: api.FeatureDocumentation = {
  tag: 'Feeds',
  description: 'Where packages come from.',
  operations: {
    'GET admin/store/feeds': api.jsonOperation('listFeeds', {
      headers: api.ETAG,
      description: 'feeds in the order of their files, keys, and lines that are no feed',
      schema: feeds,
      example: {
        feeds: [
          {
            name: 'openwrt_base',
            url: 'https://downloads.openwrt.org/releases/24.10.4/packages/x86_64/base',
            kind: 'system',
            enabled: true,
            updated_at: 1_795_000_000,
            packages: 412,
            key: 'd310c6f2833e97f7',
          },
        ],
        keys: [{ id: 'd310c6f2833e97f7', file: '/etc/opkg/keys/d310c6f2833e97f7' }],
        problems: [],
      },
    }),
    'POST admin/store/add_feed': api.taskOperation('addFeed', {
      refusals: { 409: 'a feed of this name or address is there already' },
    }),
    'POST admin/store/remove_feed': api.taskOperation('removeFeed', {
      refusals: {
        404: 'there is no feed of this name',
        409: 'it came with the firmware: it can be switched off alone',
      },
    }),
    'POST admin/store/set_feed': api.taskOperation('setFeed', {
      refusals: { 404: 'there is no feed of this name' },
      needsEither: ['enabled', 'upgrades'],
    }),
  },
};
