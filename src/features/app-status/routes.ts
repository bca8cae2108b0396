import * as v from 'valibot';
import { hostName, type Entries } from './entries.ts';
import type { AppFiles } from './app-files.ts';
import { isPackageName, PACKAGE_NAME_PATTERN } from '../../package-management/names.ts';
import { uciName } from '../../http/parameter-schemas.ts';
import { json } from '../../http/respond.ts';
import { get, post, type Route } from '../../http/route.ts';

/** Names separated by commas; an empty text is as good as none. */
const packageNames = v.pipe(
  v.string(),
  v.maxLength(1024, 'at most 1024 characters are allowed'),
  v.regex(
    new RegExp(`^(?:${PACKAGE_NAME_PATTERN}(?:,${PACKAGE_NAME_PATTERN})*)?$`),
    'package names separated by commas are expected',
  ),
  v.transform((text) => text.split(',').filter(isPackageName)),
);
const update = v.pipe(v.string(), v.regex(/^-?\d{1,9}$/, 'an integer is expected'));

/** Whether apps are configured, whether they run, and where they are reached. */
export function entryRoutes(files: AppFiles, entries: Entries): Route[] {
  return [
    get({
      path: 'admin/store/configured',
      summary: 'Whether a configuration file is there',
      params: { uci: uciName },
      handle: async ({ params }) =>
        json({ code: 200, configured: (await files.configVersion(params.uci)) !== undefined }),
    }),
    post({
      path: 'admin/store/entrysh',
      summary: 'Run state and addresses of apps, as their own scripts tell them',
      params: { package: v.optional(packageNames), hostname: hostName, update: v.optional(update) },
      handle: async ({ params }) => {
        const apps = params.package?.length === 0 ? undefined : params.package;
        const isForced = params.update === '1';
        const found = await entries({ apps, hostname: params.hostname, isForced });
        return json({ code: 200, ...found });
      },
    }),
  ];
}
