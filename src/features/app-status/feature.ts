import { createEntries, type EntryOptions } from './entries.ts';
import { entryRoutes } from './routes.ts';
import { createAppFiles } from './app-files.ts';
import type { Feature, FeatureContext } from '../feature.ts';
import type { Catalog } from '../../package-management/apps/catalog.ts';

/** Whether apps run, and where they are reached, as their own scripts tell it. */
export function createAppStatusFeature(
  { paths, scriptEnvironment, stopping }: FeatureContext,
  { catalog }: { catalog: Catalog },
  runStates: EntryOptions['runStates'],
): Feature {
  const files = createAppFiles(paths, scriptEnvironment);
  const entries = createEntries({ files, catalog, stopping, runStates });
  return {
    documentation: async () => (await import('./documentation.ts')).APP_STATUS_DOCUMENTATION,
    routes: () => entryRoutes(files, entries),
  };
}
