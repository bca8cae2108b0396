import * as v from 'valibot';
import {
  described,
  integer,
  jsonOperation,
  taskOperation,
  titled,
  type FeatureDocumentation,
} from '../../http/openapi/documentation.ts';

const check = titled('SelfUpgradeCheck', {
  code: described('200: there is a newer version; 304: there is none', integer),
  msg: described('the newer version, or empty', v.string()),
});

export const SELF_UPGRADE_DOCUMENTATION: FeatureDocumentation = {
  tag: 'Self-upgrade',
  description: 'The daemon itself.',
  operations: {
    'GET admin/store/check_self_upgrade': {
      ...jsonOperation('checkSelfUpgrade', {
        description: 'the newer version, if the lists offer one',
        schema: check,
        example: { code: 304, msg: '' },
      }),
      refusals: { 500: 'this daemon was not installed as a package: msg says so' },
    },
    'POST admin/store/do_self_upgrade': taskOperation('upgradeSelf'),
  },
};
