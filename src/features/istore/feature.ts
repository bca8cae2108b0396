import { metaPackageOf } from '../../package-management/names.ts';
import type { PackageTools } from '../../package-management/package-tools.ts';
import type { Feature, FeatureContext } from '../feature.ts';
import { istoreBackupRoutes, sweepSentFiles, type Backups } from './backup-routes.ts';
import { readLegacy } from './legacy.ts';
import { istoreRoutes } from './routes.ts';
import { createIstoreSettings } from './istore-settings.ts';

/** iStore's own page on depotd, and what comes from iStore. */
export function createIstoreFeature(
  context: FeatureContext,
  tools: Pick<PackageTools, 'manager' | 'catalog'>,
  backups: Backups,
): Feature {
  const { paths, queue, log } = context;
  const { name, architecture, feeds } = tools.manager;
  const settings = createIstoreSettings(paths);
  // The page offers the folder that was chosen last.
  queue.onChange(({ state, kind, params: { path } }) => {
    if (state !== 'queued' || path === undefined || !['install', 'autoconf'].includes(kind)) return;
    settings.write('last_path', path).catch((error: unknown) => {
      log.warn({ error }, 'the folder for apps could not be remembered');
    });
  });
  return {
    documentation: async () => (await import('./documentation.ts')).ISTORE_DOCUMENTATION,
    start: () => sweepSentFiles(paths.uploadDir),
    routes: () => [
      ...istoreRoutes({
        settings,
        architecture,
        legacy: () => readLegacy({ paths, settings, feeds, isOpkg: name === 'opkg' }),
      }),
      ...istoreBackupRoutes({
        ...context,
        settings,
        backups,
        appList: async () =>
          (await tools.catalog.apps()).map((app) => metaPackageOf(app.name)).sort(),
      }),
    ],
  };
}
