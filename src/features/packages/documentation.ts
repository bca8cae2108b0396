import * as v from 'valibot';
import {
  ETAG,
  described,
  jsonOperation,
  optional,
  taskOperation,
  taskResult,
  titled,
  unixSeconds,
  type FeatureDocumentation,
} from '../../http/openapi/documentation.ts';
import { metaFile } from '../../package-management/apps/app-meta.ts';

const { version, ...others } = metaFile.entries;
/** Keys of the app's meta file that nothing here knows pass through. */
const metaKeys = {
  ...others,
  entry: optional("address of the app's page", v.string()),
  broken: optional('its meta file cannot be read', v.boolean()),
};

const app = v.pipe(
  v.looseObject({
    name: v.string(),
    version,
    time: described('when it was installed, Unix seconds', unixSeconds),
    ...metaKeys,
  }),
  v.title('App'),
);

const packageStatus = v.pipe(
  v.looseObject({
    installed: v.boolean(),
    name: v.optional(v.string()),
    version,
    time: v.optional(unixSeconds),
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

export const PACKAGES_DOCUMENTATION: FeatureDocumentation = {
  tag: 'Packages',
  description: 'What is installed, and the tasks that change it.',
  operations: {
    'GET admin/store/token': jsonOperation('getToken', {
      description: 'the token of this session',
      schema: titled('Token', {
        token: v.string(),
        may_write: optional('false if the session may only read', v.boolean()),
        panel_url: optional(
          "with `panel_url=1`: where the panel's web server answers, for an `entry` that names " +
            'no host: `/` if the request came through it; left out if it is not known',
          v.string(),
        ),
      }),
      example: { token: '5d2f7c1e9b3a48d6' },
    }),
    'GET admin/store/installed': jsonOperation('listInstalled', {
      description: 'the installed apps',
      headers: ETAG,
      schema: v.array(app),
      example: [EXAMPLE_APP],
    }),
    'GET admin/store/status': jsonOperation('getPackageStatus', {
      headers: ETAG,
      description: 'the app or package; only `installed` if it is not known',
      schema: packageStatus,
      example: { ...EXAMPLE_APP, installed: true },
    }),
    'POST admin/store/install': taskOperation('installPackage'),
    'POST admin/store/autoconf': taskOperation('configurePackage'),
    'POST admin/store/remove': taskOperation('removePackage'),
    'POST admin/store/upgrade': taskOperation('upgradePackage', {
      needsEither: ['package', 'all'],
    }),
    'POST admin/store/update': taskOperation('updateLists'),
    'POST admin/store/hold': jsonOperation('holdPackage', HELD),
    'POST admin/store/release': jsonOperation('releasePackage', HELD),
    'GET admin/store/log': jsonOperation('getNewestLog', {
      description: 'code 206 while it runs, then its exit code; the end of its log',
      schema: taskResult,
      example: { code: 0, stdout: 'Configuring adfilter.\n', stderr: '' },
    }),
  },
};
