import type { Feature, FeatureContext } from '../feature.ts';
import type { PackageTools } from '../../package-management/package-tools.ts';
import { previewRoutes, type OtherPreviews } from './routes.ts';

/** What a change of packages would do: for people who decide, and for a dry run. */
export function createPreviewFeature(
  { queue }: Pick<FeatureContext, 'queue'>,
  tools: PackageTools,
  others: OtherPreviews,
): Feature {
  return {
    documentation: async () => (await import('./documentation.ts')).PREVIEW_DOCUMENTATION,
    routes: () => previewRoutes(tools, { others, jobs: queue.all }),
  };
}
