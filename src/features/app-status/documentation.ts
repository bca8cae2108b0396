import * as v from 'valibot';
import {
  described,
  integer,
  jsonOperation,
  type FeatureDocumentation,
} from '../../http/openapi/documentation.ts';

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

const entryError = v.pipe(
  v.object({
    app: v.string(),
    code: described('404: it has no entry script; 500: that failed', integer),
    msg: v.string(),
  }),
  v.title('EntryError'),
);

const entryAnswer = v.pipe(
  v.object({ code: integer, status: v.array(entryStatus), errors: v.array(entryError) }),
  v.title('EntryAnswer'),
);

const configured = v.pipe(
  v.object({ code: integer, configured: v.boolean() }),
  v.title('Configured'),
);

export const APP_STATUS_DOCUMENTATION: FeatureDocumentation = {
  tag: 'Apps',
  description: 'Whether apps are configured, whether they run, and where their pages are.',
  operations: {
    'GET admin/store/configured': jsonOperation('isConfigured', {
      description: 'whether the configuration file is there',
      schema: configured,
      example: { code: 200, configured: true },
    }),
    'POST admin/store/entrysh': jsonOperation('getEntries', {
      description: 'one item for each app that said how it is, and one for each that did not',
      schema: entryAnswer,
      example: {
        code: 200,
        status: [{ app: 'adfilter', docker: false, running: true, web: ':3000' }],
        errors: [],
      },
    }),
  },
};
