import * as v from 'valibot';
import * as api from '../../http/openapi/documentation.ts';

const entryStatus = v.pipe(
  v.looseObject({
    app: v.string(),
    running: v.boolean(),
    docker: v.boolean(),
    deployed: v.optional(v.boolean()),
    web: v.optional(v.string()),
    href: v.optional(v.string()),
  }),
  v.title('EntryStatus'),
);

const entryError = api.titled('EntryError', {
  app: v.string(),
  code: api.described('404: it has no entry script; 500: that failed', api.integer),
  msg: v.string(),
});

export const APP_STATUS_DOCUMENTATION: api.FeatureDocumentation = {
  tag: 'Apps',
  description: 'Whether apps are configured, whether they run, and where their pages are.',
  operations: {
    'GET admin/store/configured': api.jsonOperation('isConfigured', {
      description: 'whether the configuration file is there',
      schema: api.titled('Configured', { code: api.integer, configured: v.boolean() }),
      example: { code: 200, configured: true },
    }),
    'POST admin/store/entrysh': api.jsonOperation('getEntries', {
      description: 'one item for each app that said how it is, and one for each that did not',
      schema: api.titled('EntryAnswer', {
        code: api.integer,
        status: v.array(entryStatus),
        errors: v.array(entryError),
      }),
      example: {
        code: 200,
        status: [{ app: 'adfilter', docker: false, running: true, web: ':3000' }],
        errors: [],
      },
    }),
  },
};
