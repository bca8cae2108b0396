import type { Job } from '../../jobs/job.ts';
import type { JobKind } from '../../jobs/kinds.ts';
import type { Plan } from '../../jobs/plan.ts';
import type { Feature, FeatureContext } from '../feature.ts';
import { PACKAGE_LANE } from '../../package-management/manager.ts';
import type { PackageTools } from '../../package-management/package-tools.ts';
import { changePlan } from './feed-plan.ts';
import { createFeedReader } from './read-feeds.ts';
import { feedRoutes } from './routes.ts';

/** Where packages come from: the feeds that the package manager is set up with. */
export function createFeedsFeature(
  context: FeatureContext,
  { manager, undo, noUpgrades }: Pick<PackageTools, 'manager' | 'undo' | 'noUpgrades'>,
): Feature {
  const { submit, queue } = context;
  const { feeds } = manager;
  const read = createFeedReader(manager, noUpgrades, queue);
  const plan = (job: Job): Plan => changePlan({ ...context, feeds, undo, noUpgrades }, job);
  const kind = (title: JobKind['title'], contradicts: readonly string[] = []): JobKind => ({
    lane: PACKAGE_LANE,
    title,
    plan,
    contradicts,
  });
  return {
    documentation: async () => (await import('./documentation.ts')).FEEDS_DOCUMENTATION,
    routes: () => feedRoutes({ feeds, read, submit }),
    checks: async () => (await import('./checks.ts')).feedChecks(read, context.paths),
    jobs: {
      add_feed: kind((name) => `add the feed ${name}`),
      remove_feed: kind((name) => `remove the feed ${name}`, ['add_feed', 'set_feed']),
      set_feed: kind((name) => `change the feed ${name}`),
    },
  };
}
