import type { PackageManager } from '../../package-management/manager.ts';
import type { Feature, FeatureContext } from '../feature.ts';
import { readLegacy } from './catalogue.ts';
import { istoreRoutes } from './routes.ts';
import { createIstoreSettings } from './settings.ts';

/** iStore's own page on depotd, and what comes from iStore. */
export function createIstoreFeature(
  { paths, queue, log }: FeatureContext,
  { name, architecture, feeds }: Pick<PackageManager, 'name' | 'architecture' | 'feeds'>,
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
    routes: () =>
      istoreRoutes({
        settings,
        architecture,
        legacy: () => readLegacy({ paths, settings, feeds, isOpkg: name === 'opkg' }),
      }),
  };
}

const FOLDER_KINDS = ['install', 'autoconf'];
