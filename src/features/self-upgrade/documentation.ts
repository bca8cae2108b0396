import * as v from 'valibot';
import * as api from '../../http/openapi/documentation.ts';

export const SELF_UPGRADE_DOCUMENTATION: api.FeatureDocumentation = {
  tag: 'Self-upgrade',
  description: 'The daemon itself.',
  operations: {
    'GET admin/store/check_self_upgrade': api.jsonOperation('checkSelfUpgrade', {
      refusals: { 500: 'this daemon was not installed as a package: msg says so' },
      description: 'the newer version, if the lists offer one',
      schema: api.titled('SelfUpgradeCheck', {
        code: api.described('200: there is a newer version; 304: there is none', api.integer),
        msg: api.described('the newer version, or empty', v.string()),
      }),
      example: { code: 304, msg: '' },
    }),
    'POST admin/store/do_self_upgrade': api.taskOperation('upgradeSelf'),
  },
};
