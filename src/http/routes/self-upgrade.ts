import type { PackageHost } from '../../host/host.ts';
import type { Queue } from '../../jobs/queue.ts';
import { requestFor } from '../../store/operations.ts';
import { findSelfUpgrade, STORE_PACKAGE } from '../../store/self-upgrade.ts';
import { json } from '../respond.ts';
import { get, postTask, type Route } from '../route.ts';
import { submissionResult } from '../submission-result.ts';

/**
 * The store's own upgrade. The codes stand in the body, as the peer has them: an HTTP 304 could not
 * carry one.
 */
export function selfUpgradeRoutes({
  packages,
  queue,
}: {
  packages: PackageHost;
  queue: Queue;
}): Route[] {
  return [
    get({
      path: 'admin/store/check_self_upgrade',
      summary: 'Whether the lists offer a newer version of the store',
      params: {},
      handle: async () => {
        const version = await findSelfUpgrade(packages);
        return json(version === undefined ? { code: 304, msg: '' } : { code: 200, msg: version });
      },
    }),
    postTask({
      path: 'admin/store/do_self_upgrade',
      summary: 'Upgrade the store; the old version comes back where the new one does not answer',
      params: {},
      handle: async () =>
        json(submissionResult(await queue.submit(requestFor('self-upgrade', STORE_PACKAGE, {})))),
    }),
  ];
}
