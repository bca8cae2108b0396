import type { PackageManager } from '../../package-management/manager.ts';
import type { FeatureContext } from '../feature.ts';
import { OWN_PACKAGE } from '../../package-management/names.ts';
import { findSelfUpgrade } from './plan.ts';
import { json } from '../../http/respond.ts';
import { get, postTask, type Route } from '../../http/route.ts';
import { submissionResult } from '../../http/task-result.ts';

/**
 * The store's own upgrade. The codes stand in the body, as the peer has them: an HTTP 304 could not
 * carry one.
 */
export function selfUpgradeRoutes({
  manager,
  submit,
}: Pick<FeatureContext, 'submit'> & { manager: PackageManager }): Route[] {
  return [
    get({
      path: 'admin/store/check_self_upgrade',
      summary: 'Whether the lists offer a newer version of the store',
      params: {},
      handle: async () => {
        const version = await findSelfUpgrade(manager);
        return json(version === undefined ? { code: 304, msg: '' } : { code: 200, msg: version });
      },
    }),
    postTask({
      path: 'admin/store/do_self_upgrade',
      summary: 'Upgrade the store; the old version comes back where the new one does not answer',
      params: {},
      handle: async () => json(submissionResult(await submit('self-upgrade', OWN_PACKAGE, {}))),
    }),
  ];
}
