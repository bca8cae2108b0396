import { isEnded } from '../../jobs/job.ts';
import { PACKAGE_LANE, type PackageManager } from '../../package-management/manager.ts';
import type { FeatureContext } from '../feature.ts';
import { OWN_PACKAGE } from '../../package-management/names.ts';
import { DepotError } from '../../errors.ts';
import type { SelfUpgradeHost } from './watcher.ts';
import { findSelfUpgrade } from './self-upgrade-plan.ts';
import { json } from '../../http/respond.ts';
import { get, postTask, type Route } from '../../http/route.ts';
import { submissionResult } from '../../http/task-result.ts';

/** The store's own upgrade. Codes stand in the body, as iStore has them: HTTP 304 has no body. */
export function selfUpgradeRoutes({
  manager,
  submit,
  queue,
  forget,
}: Pick<FeatureContext, 'submit' | 'queue'> &
  Pick<SelfUpgradeHost, 'forget'> & { manager: PackageManager }): Route[] {
  return [
    get({
      path: 'admin/store/check_self_upgrade',
      summary: 'Whether the lists offer a newer version of the store',
      handle: async () => json(await check(manager)),
    }),
    postTask({
      path: 'admin/store/do_self_upgrade',
      summary: 'Upgrade the store; the old version comes back where the new one does not answer',
      handle: async () => {
        const { code, msg } = await check(manager);
        // What is under way may change the answer: the job looks again.
        const isBusy = queue
          .all()
          .some(({ lane, state }) => lane === PACKAGE_LANE && !isEnded(state));
        if (code === 200 || isBusy) {
          return json(submissionResult(await submit('self-upgrade', OWN_PACKAGE, {})));
        }
        await forget();
        const stderr = code === 304 ? NOTHING_NEWER : msg;
        return json({ code: 1, stdout: '', stderr });
      },
    }),
  ];
}

const NOTHING_NEWER = `cannot upgrade ${OWN_PACKAGE}: the lists offer no newer version`;

async function check(manager: PackageManager): Promise<{ code: number; msg: string }> {
  try {
    const version = await findSelfUpgrade(manager);
    return version === undefined ? { code: 304, msg: '' } : { code: 200, msg: version };
  } catch (error) {
    if (!(error instanceof DepotError)) throw error;
    return { code: 500, msg: error.message };
  }
}
