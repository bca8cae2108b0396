import { PACKAGE_LANE, type PackageManager } from '../../package-management/manager.ts';
import { autoconfStep } from './autoconf.ts';
import { createCatalog } from '../../package-management/apps/catalog.ts';
import { createExpectedChanges } from '../../package-management/transaction/progress.ts';
import type { AppContainers, PackageTools } from '../../package-management/package-tools.ts';
import { PACKAGES_SECTION } from './options.ts';
import { createRegularUpdate } from './regular-update.ts';
import { installPlan } from './plans/install.ts';
import { removePlan } from './plans/remove.ts';
import { updatePlan } from './plans/update.ts';
import { upgradePlan } from './plans/upgrade.ts';
import { storeRoutes } from './routes.ts';
import { createUndoCopies } from '../../package-management/undo/undo-copies.ts';
import { createNoUpgrades } from '../../package-management/no-upgrades.ts';
import { createUndoStore } from '../../package-management/undo/undo-store.ts';
import { selectManager } from '../../package-management/select.ts';
import { valuesOf } from '../../config/config.ts';
import { failureTo } from '../../errors.ts';
import type { Feature, FeatureContext } from '../feature.ts';
import { isEnded, type Job } from '../../jobs/job.ts';
import type { JobKind } from '../../jobs/kinds.ts';
import { retriedStart } from '../../jobs/retried-start.ts';

const MIB = 1024 ** 2;

/**
 * When the watch for changes by others begins: it is a fifth of a start's work, and the first
 * answer does not wait for it. It begins with a look, which takes in what changed until then.
 */
const WATCH_MS = 200;

/**
 * Apps and packages: what is installed, and the jobs that change it.
 * @param containersOf what apps have in containers, which goes with their packages
 * @returns also the tools for other features that install or remove packages
 */
export async function createPackagesFeature(
  context: FeatureContext,
  containersOf: (manager: PackageManager) => AppContainers,
): Promise<Feature & { tools: PackageTools }> {
  const wanted = valuesOf(context.config(), PACKAGES_SECTION).manager;
  const manager = await (await selectManager(context.paths, wanted)).create(context);
  const { log, queue } = context;
  let isCopied = true;
  // A job's own copy is what its repair goes back to.
  const afterChange = async (): Promise<void> => {
    const isOpen = ({ lane, state }: Job): boolean => lane === PACKAGE_LANE && !isEnded(state);
    if (queue.all().some(isOpen)) return;
    await manager.atRest?.();
    isCopied = true;
  };
  const catalog = createCatalog({ manager, log, afterChange });
  // A change that is done is copied by its own last step. What another one left is not, and waits
  // for the copy until nothing of the lane is open any more.
  const endOf = queue.onChange(({ lane, state }) => {
    if (lane !== PACKAGE_LANE || !isEnded(state)) return;
    isCopied &&= state === 'done';
    if (!isCopied) void afterChange().catch(failureTo(log, 'package database not copied'));
  });
  const updateEveryHours = (): number =>
    valuesOf(context.config(), PACKAGES_SECTION).update_every_h;
  const { feeds } = manager;
  const regular = createRegularUpdate({ ...context, feeds, everyHours: updateEveryHours });
  const expected = createExpectedChanges();
  const { paths } = context;
  const limitBytes = (): number => context.config().main.undo_mb * MIB;
  const undo = createUndoCopies({ manager, paths, store: createUndoStore({ paths, limitBytes }) });
  const { uciDir } = paths;
  const containers = containersOf(manager);
  const tools: PackageTools = {
    ...{ manager, catalog, expected, undo, uciDir, updateEveryHours, containers },
    noUpgrades: createNoUpgrades(context.paths),
    beforeChange: [],
  };
  let watch: NodeJS.Timeout | undefined;
  let watching = Promise.resolve();
  const beginWatch = retriedStart(catalog.watch, context);
  return {
    tools,
    documentation: async () => (await import('./documentation.ts')).PACKAGES_DOCUMENTATION,
    routes: () => storeRoutes({ ...context, ...tools }),
    health: manager.health,
    checks: async () => (await import('./checks.ts')).packageChecks(manager, context.paths.isLive),
    jobs: kindsOf(tools, context),
    keepsUp: () => updateEveryHours() > 0,
    start: () => {
      regular.start();
      watch = setTimeout(() => void (watching = beginWatch()), WATCH_MS);
    },
    close: async () => {
      endOf();
      regular.close();
      clearTimeout(watch);
      await watching;
      await catalog.close();
    },
  };
}

function kindsOf(tools: PackageTools, context: FeatureContext): Record<string, JobKind> {
  const common = { lane: PACKAGE_LANE, admit: tools.manager.assertUsable };
  return {
    install: {
      ...common,
      title: (subject) => `install ${subject}`,
      plan: (job) => installPlan(tools, context, job),
    },
    remove: {
      ...common,
      title: (subject) => `remove ${subject}`,
      plan: (job) => removePlan(tools, context.paths, job),
      contradicts: ['install', 'upgrade', 'autoconf'],
    },
    upgrade: {
      ...common,
      title: (subject) => `upgrade ${subject === '' ? 'all' : subject}`,
      plan: (job) => upgradePlan(tools, job),
    },
    autoconf: {
      lane: PACKAGE_LANE,
      title: (subject) => `configure ${subject}`,
      plan: () => ({ steps: [autoconfStep(context)], repair: [] }),
    },
    update: {
      ...common,
      title: () => `${tools.manager.name} update`,
      plan: () => updatePlan(tools),
    },
  };
}
