import * as v from 'valibot';
import * as api from '../../http/openapi/documentation.ts';
import { metaFile } from '../../package-management/apps/app-meta.ts';

const { version, ...others } = metaFile.entries;
/** Keys of the app's meta file that nothing here knows pass through. */
const metaKeys = {
  ...others,
  entry: api.optional("address of the app's page", v.string()),
  broken: api.optional('its meta file cannot be read', v.boolean()),
};

const app = v.pipe(
  v.looseObject({
    name: v.string(),
    version,
    time: api.described('when it was installed, Unix seconds', api.unixSeconds),
    ...metaKeys,
  }),
  v.title('App'),
);

const packageStatus = v.pipe(
  v.looseObject({
    installed: v.boolean(),
    name: v.optional(v.string()),
    version,
    time: v.optional(api.unixSeconds),
    ...metaKeys,
  }),
  v.title('PackageStatus'),
);

const EXAMPLE_APP = {
  name: 'adfilter',
  title: 'Ad Filter',
  version: '2.4.1',
  release: 3,
  description: 'Keeps advertising and trackers away from every device at home.',
  tags: ['net', 'dns'],
  depends: ['adfilter'],
  time: 1_795_000_000,
};

const HELD = {
  description: 'done; refused while a task changes packages',
  schema: v.object({ code: v.literal(0) }),
  example: { code: 0 },
  refusals: { 404: 'it is not installed', 409: 'a task changes packages' },
} as const;

export const PACKAGES_DOCUMENTATION: api.FeatureDocumentation = {
  tag: 'Packages',
  description: 'What is installed, and the tasks that change it.',
  operations: {
    'GET admin/store/token': api.jsonOperation('getToken', {
      description: 'the token of this session',
      schema: api.titled('Token', {
        token: v.string(),
        may_write: api.optional('false if the session may only read', v.boolean()),
        panel_url: api.optional(
          "with `panel_url=1`: where the panel's web server answers, for an `entry` that names " +
            'no host: `/` if the request came through it; left out if it is not known',
          v.string(),
        ),
      }),
      example: { token: '5d2f7c1e9b3a48d6' },
    }),
    'GET admin/store/installed': api.jsonOperation('listInstalled', {
      description: 'the installed apps',
      headers: api.ETAG,
      schema: v.array(app),
      example: [EXAMPLE_APP],
    }),
    'GET admin/store/status': api.jsonOperation('getPackageStatus', {
      headers: api.ETAG,
      description: 'the app or package; only `installed` if it is not known',
      schema: packageStatus,
      example: { ...EXAMPLE_APP, installed: true },
    }),
    'POST admin/store/install': api.taskOperation('installPackage'),
    'POST admin/store/autoconf': api.taskOperation('configurePackage'),
    'POST admin/store/remove': api.taskOperation('removePackage'),
    'POST admin/store/upgrade': api.taskOperation('upgradePackage', {
      needsEither: ['package', 'all'],
    }),
    'POST admin/store/update': api.taskOperation('updateLists'),
    'POST admin/store/hold': api.jsonOperation('holdPackage', HELD),
    'POST admin/store/release': api.jsonOperation('releasePackage', HELD),
    'GET admin/store/log': api.jsonOperation('getNewestLog', {
      description: 'code 206 while it runs, then its exit code; the end of its log',
      schema: api.taskResult,
      example: { code: 0, stdout: 'Configuring adfilter.\n', stderr: '' },
    }),
  },
};
