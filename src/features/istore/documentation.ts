import * as v from 'valibot';
import {
  integer,
  jsonOperation,
  type FeatureDocumentation,
} from '../../http/openapi/documentation.ts';

const done = {
  description: 'it is kept',
  schema: v.pipe(v.object({ code: integer, msg: v.string() }), v.title('IstoreDone')),
  example: { code: 200, msg: 'Success' },
};

const userConfig = v.pipe(
  v.object({
    hide_docker: v.boolean(),
    ignore_arch: v.boolean(),
    ipv4: v.boolean(),
    last_path: v.optional(v.string()),
    super_arch: v.string(),
    channel: v.optional(v.string()),
  }),
  v.title('IstoreConfig'),
);

export const ISTORE_DOCUMENTATION: FeatureDocumentation = {
  tag: 'iStore',
  description: "What iStore's own page asks for beside the store's operations.",
  operations: {
    'POST admin/store/toggle_docker': jsonOperation('toggleDocker', done),
    'POST admin/store/toggle_arch': jsonOperation('toggleArchitecture', done),
    'POST admin/store/toggle_ipv4': jsonOperation('toggleIpv4', done),
    'GET admin/store/features': jsonOperation('getIstoreFeatures', {
      description: 'what the page shows buttons for',
      schema: v.array(v.string()),
      example: ['docker', 'luci-js'],
    }),
    'GET admin/store/user_config': jsonOperation('getIstoreConfig', {
      description: 'the options that the page knows',
      schema: userConfig,
      example: { hide_docker: false, ignore_arch: false, ipv4: false, super_arch: 'aarch64' },
    }),
  },
};
