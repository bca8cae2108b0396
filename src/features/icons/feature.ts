import type { Feature, FeatureContext } from '../feature.ts';
import { ICON_FOLDER } from './icon-names.ts';
import { iconRoutes } from './routes.ts';

/** Pictures of apps, from the device itself: the page asks no other host for any. */
export function createIconsFeature({ paths }: FeatureContext): Feature {
  return {
    documentation: async () => (await import('./documentation.ts')).ICONS_DOCUMENTATION,
    routes: () => iconRoutes(paths.onDevice(ICON_FOLDER)),
  };
}
