import type { Feature, FeatureContext } from '../feature.ts';
import { istoreRoutes } from './routes.ts';
import { createIstoreSettings } from './settings.ts';

/** iStore's own page on depotd, and what comes from iStore. */
export function createIstoreFeature(
  { paths, queue, log }: FeatureContext,
  { architecture }: { architecture: () => Promise<string> },
): Feature {
  const settings = createIstoreSettings(paths);
  // The page offers the folder that was chosen last.
  queue.onChange(({ state, kind, params: { path } }) => {
    if (state !== 'queued' || path === undefined || !FOLDER_KINDS.includes(kind)) return;
    settings.write('last_path', path).catch((error: unknown) => {
      log.warn({ error }, 'the folder for apps could not be remembered');
    });
  });
  return {
    documentation: async () => (await import('./documentation.ts')).ISTORE_DOCUMENTATION,
    routes: () => istoreRoutes({ settings, architecture }),
  };
}

const FOLDER_KINDS = ['install', 'autoconf'];
