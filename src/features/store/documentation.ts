import * as v from 'valibot';
import * as api from '../../http/openapi/documentation.ts';
import { STOPS } from '../../package-management/system-packages.ts';

const texts = v.array(v.string());

const bytes = v.pipe(api.integer, v.minValue(0));

const itemKeys = {
  name: api.described('of the app or the package', v.string()),
  kind: v.picklist(['app', 'package']),
  title: v.string(),
  version: api.described('the best that feeds offer; the installed one if none does', v.string()),
  installed_version: api.optional('if it is installed', v.string()),
  is_upgradable: api.whether('a newer version is offered, of an app or of a package that it names'),
  is_auto: api.optional('it came as a dependency', v.boolean()),
  is_held: api.optional('its owner keeps it at its version', v.boolean()),
  is_system: api.optional('the firmware brought it, or the device stands on it', v.boolean()),
  is_of_firmware: api.optional(
    'the firmware brought it: a newer version comes with the next firmware',
    v.boolean(),
  ),
  description: api.described('plain text; in lists its first 1000 characters', v.string()),
  description_en: api.optional('of an installed app that also says it in English', v.string()),
  section: v.optional(v.string()),
  tags: texts,
  download_bytes: api.optional('size of its package file; of an app, of its meta package', bytes),
  installed_bytes: api.optional(
    'of its files; of an installed app, what its removal frees; of another app, of its meta ' +
      'package alone: `plan` says what its installation takes',
    bytes,
  ),
  feed: api.optional('the feed of `version`', v.string()),
  has_icon: api.whether('`icon` has a picture of that name'),
  time: api.optional('when it was installed, else when it was built', api.unixSeconds),
  broken: api.optional('it is half installed, or its meta file cannot be read', v.boolean()),
  entry: api.optional(
    'of an installed application of LuCI: the path of its page below `/cgi-bin/luci/`',
    v.string(),
  ),
};

const item = api.titled('Item', itemKeys);

/** An app or a package, as lists and details show it; a key that has nothing to say is left out. */
export type Item = v.InferOutput<typeof item>;

const page = api.titled('ItemPage', {
  lists: v.object({
    state: api.described(
      'old: a week and more; missing: of no feed, as after a boot',
      v.picklist(['fresh', 'old', 'missing']),
    ),
    updated_at: api.optional('of the oldest list', api.unixSeconds),
    missing: api.optional('feeds that are on and have no list beside others', v.array(v.string())),
    update_every_h: api.optional('hours between two fetches by itself; absent: never', api.integer),
  }),
  total: api.described('items on all pages together', api.integer),
  suggestion: api.optional(
    'of a search that finds nothing: its words, spelled so that they find something',
    v.string(),
  ),
  page: api.integer,
  per_page: api.integer,
  items: v.array(item),
});

export type ItemPage = v.InferOutput<typeof page>;

const details = api.titled('Details', {
  ...itemKeys,
  versions: api.described(
    'what feeds offer, the newest first',
    v.array(
      v.object({
        version: v.string(),
        feed: v.string(),
        download_bytes: api.optional('size of the package file', bytes),
      }),
    ),
  ),
  depends: api.described(
    'of the installed version, else of the best; of each list one will do',
    v.array(texts),
  ),
  required_by: api.described('installed packages that depend on it', texts),
  conflicts: v.optional(texts),
  provides: v.optional(texts),
  homepage: v.optional(v.string()),
  license: v.optional(v.string()),
  maintainer: v.optional(v.string()),
  files: api.optional(
    'on the device; of an app with those of the packages that it names',
    v.object({ count: api.integer, bytes: api.integer }),
  ),
  config: api.optional('paths of its configuration files', texts),
  services: api.optional('names of its init scripts', texts),
  is_running: api.optional('one of its services runs; absent if procd knows none', v.boolean()),
  installed_at: v.optional(api.unixSeconds),
  task_id: api.optional('of the task that brought it, if it is still on record', v.string()),
  stops: v.optional(STOPS),
});

/** All about one app or package; a key that has nothing to say is left out. */
export type Details = v.InferOutput<typeof details>;

const EXAMPLE_ITEM = {
  name: 'adfilter',
  kind: 'app',
  title: 'Ad Filter',
  version: '2.4.2-1',
  installed_version: '2.4.1-3',
  is_upgradable: true,
  is_auto: false,
  is_held: false,
  is_system: false,
  description: 'Keeps advertising and trackers away from every device at home.',
  section: 'meta',
  tags: ['net', 'dns'],
  download_bytes: 4120,
  installed_bytes: 1_310_720,
  feed: 'apps',
  has_icon: true,
  time: 1_795_000_000,
};

export const STORE_DOCUMENTATION: api.FeatureDocumentation = {
  tag: 'Store',
  description: 'What feeds offer and what is installed, as one list.',
  operations: {
    'GET admin/store/available': api.jsonOperation('listAvailable', {
      headers: api.ETAG,
      description: 'a page of the list; none beyond the last one',
      schema: page,
      example: {
        total: 1,
        page: 1,
        per_page: 50,
        items: [EXAMPLE_ITEM],
        lists: { state: 'fresh', updated_at: 1_795_000_000, update_every_h: 24 },
      },
    }),
    'GET admin/store/details': api.jsonOperation('getDetails', {
      headers: api.ETAG,
      refusals: { 404: 'nothing of that name is installed or offered' },
      description: 'all about the app, or the package if there is no such app',
      schema: details,
      example: {
        ...EXAMPLE_ITEM,
        versions: [{ version: '2.4.2-1', feed: 'apps', download_bytes: 4120 }],
        depends: [['libc'], ['adfilter']],
        required_by: [],
        homepage: 'https://adfilter.example/',
        license: 'MIT',
        files: { count: 12, bytes: 1_310_720 },
        config: ['/etc/config/adfilter'],
        services: ['adfilter'],
        installed_at: 1_795_000_000,
        task_id: '3f0c9a52d71b48e6a0f5c2d4e8b17a90',
      },
    }),
  },
};
