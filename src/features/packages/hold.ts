import { DepotError, type Explanation } from '../../errors.ts';
import { json } from '../../http/respond.ts';
import { post, type Route } from '../../http/route.ts';
import { isEnded } from '../../jobs/job.ts';
import type { Queue } from '../../jobs/queue.ts';
import { isOnRecord, packagesOf } from '../../package-management/choice.ts';
import { isPresent } from '../../package-management/database.ts';
import { PACKAGE_LANE } from '../../package-management/manager.ts';
import { packageName } from '../../package-management/names.ts';
import { ADVICE } from '../../package-management/problem.ts';
import type { PackageTools } from '../../package-management/tools.ts';

type HoldTools = PackageTools & { queue: Pick<Queue, 'all'> };

/** Done at once, and by no task. */
export function holdRoutes(tools: HoldTools): Route[] {
  const params = { package: packageName };
  const done = (): Response => json({ code: 0 });
  return [
    post({
      path: 'admin/store/hold',
      summary: 'Hold an installed app or package at its version',
      params,
      handle: ({ params: { package: name } }) => setHold(tools, name, true).then(done),
    }),
    post({
      path: 'admin/store/release',
      summary: 'Let an app or package go that is held, so that feeds may upgrade it',
      params,
      handle: ({ params: { package: name } }) => setHold(tools, name, false).then(done),
    }),
  ];
}

/**
 * Holds a package at its version, or lets it go; of an app all of its packages, since an upgrade of
 * any would upgrade the app.
 * @throws DepotError not_found if it is not installed, conflict while a task changes packages
 */
async function setHold(tools: HoldTools, subject: string, isHeld: boolean): Promise<void> {
  const { manager, catalog, queue } = tools;
  const purpose = isHeld ? `hold ${subject}` : `release ${subject}`;
  const refused = (code: 'not_found' | 'conflict', why: string, explanation: Explanation): Error =>
    new DepotError(code, `cannot ${purpose}: ${why}`, { explanation });
  const database = await manager.installed();
  // What is held may be asked for and not be there.
  const isKnown = (name: string): boolean =>
    isHeld ? isPresent(database.get(name)) : isOnRecord(database, name);
  const known = (await packagesOf({ catalog }, subject)).filter(isKnown);
  if (known.length === 0) {
    const remedy = ADVICE.notInstalled;
    throw refused('not_found', 'it is not installed', { code: 'not_found', remedy });
  }
  const job = queue.all().find(({ lane, state }) => lane === PACKAGE_LANE && !isEnded(state));
  if (job !== undefined) {
    const remedy = 'Wait until the task has ended, then try again.';
    throw refused('conflict', `task ${job.id} changes packages`, { code: 'locked', remedy });
  }
  for (const name of known) await manager.setHold(name, { isHeld });
  await catalog.refresh();
}
