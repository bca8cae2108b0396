import * as v from 'valibot';
import {
  ETAG,
  integer,
  jsonOperation,
  unixSeconds,
  whether,
  type FeatureDocumentation,
} from '../../http/openapi/documentation.ts';
import { STOPS } from '../../package-management/system-packages.ts';

const texts = v.array(v.string());

function described(text: string): v.GenericSchema<string, string> {
  return v.pipe(v.string(), v.description(text));
}

function bytes(text: string): v.GenericSchema<number, number> {
  return v.pipe(integer, v.minValue(0), v.description(text));
}

const itemKeys = {
  name: described('of the app or the package'),
  kind: v.picklist(['app', 'package']),
  title: v.string(),
  version: described('the best that feeds offer; the installed one if none does'),
  installed_version: v.optional(described('if it is installed')),
  is_upgradable: whether('a newer version is offered, of an app or of a package that it names'),
  is_auto: v.optional(whether('it came as a dependency')),
  is_held: v.optional(whether('its owner keeps it at its version')),
  is_system: v.optional(whether('the firmware brought it, or the device stands on it')),
  is_of_firmware: v.optional(
    whether('the firmware brought it: a newer version comes with the next firmware'),
  ),
  description: described('plain text; in lists its first 1000 characters'),
  section: v.optional(v.string()),
  tags: texts,
  download_bytes: v.optional(bytes('size of its package file; of an app, of its meta package')),
  installed_bytes: v.optional(
    bytes(
      'of its files; of an installed app, what its removal frees; of another app, of its meta ' +
        'package alone: `plan` says what its installation takes',
    ),
  ),
  feed: v.optional(described('the feed of `version`')),
  has_icon: whether('`icon` has a picture of that name'),
  time: v.optional(
    v.pipe(unixSeconds, v.description('when it was installed, else when it was built')),
  ),
  broken: v.optional(whether('it is half installed, or its meta file cannot be read')),
  entry: v.optional(
    described('of an installed application of LuCI: the path of its page below `/cgi-bin/luci/`'),
  ),
};

const item = v.pipe(v.object(itemKeys), v.title('Item'));

/** An app or a package, as lists and details show it; a key that has nothing to say is left out. */
export type Item = v.InferOutput<typeof item>;

const page = v.pipe(
  v.object({
    lists: v.object({
      state: v.pipe(
        v.picklist(['fresh', 'old', 'missing']),
        v.description('old: a week and more; missing: of no feed, as after a boot'),
      ),
      updated_at: v.optional(v.pipe(unixSeconds, v.description('of the oldest list'))),
      update_every_h: v.optional(
        v.pipe(integer, v.description('hours between two fetches by itself; absent: never')),
      ),
    }),
    total: v.pipe(integer, v.description('items on all pages together')),
    suggestion: v.optional(
      described('of a search that finds nothing: its words, spelled so that they find something'),
    ),
    page: integer,
    per_page: integer,
    items: v.array(item),
  }),
  v.title('ItemPage'),
);

export type ItemPage = v.InferOutput<typeof page>;

const details = v.pipe(
  v.object({
    ...itemKeys,
    versions: v.pipe(
      v.array(
        v.object({
          version: v.string(),
          feed: v.string(),
          download_bytes: v.optional(bytes('size of the package file')),
        }),
      ),
      v.description('what feeds offer, the newest first'),
    ),
    depends: v.pipe(
      v.array(texts),
      v.description('of the installed version, else of the best; of each list one will do'),
    ),
    required_by: v.pipe(texts, v.description('installed packages that depend on it')),
    conflicts: v.optional(texts),
    provides: v.optional(texts),
    homepage: v.optional(v.string()),
    license: v.optional(v.string()),
    maintainer: v.optional(v.string()),
    files: v.optional(
      v.pipe(
        v.object({ count: integer, bytes: integer }),
        v.description('on the device; of an app with those of the packages that it names'),
      ),
    ),
    config: v.optional(v.pipe(texts, v.description('paths of its configuration files'))),
    services: v.optional(v.pipe(texts, v.description('names of its init scripts'))),
    is_running: v.optional(whether('one of its services runs; absent if procd knows none')),
    installed_at: v.optional(unixSeconds),
    task_id: v.optional(described('of the task that brought it, if it is still on record')),
    stops: v.optional(STOPS),
  }),
  v.title('Details'),
);

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

export const STORE_DOCUMENTATION: FeatureDocumentation = {
  tag: 'Store',
  description: 'What feeds offer and what is installed, as one list.',
  operations: {
    'GET admin/store/available': jsonOperation('listAvailable', {
      headers: ETAG,
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
    'GET admin/store/details': jsonOperation('getDetails', {
      headers: ETAG,
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
