import { createBlockDevices } from './block-devices.ts';
import { createDisks } from './disks.ts';
import { diskRoutes } from './routes.ts';
import type { Feature, FeatureContext } from '../feature.ts';

export function createDisksFeature({ environment, log }: FeatureContext): Feature {
  const disks = createDisks({ host: createBlockDevices(environment), log });
  return {
    documentation: async () => (await import('./documentation.ts')).DISKS_DOCUMENTATION,
    routes: () => diskRoutes(disks),
    close: disks.close,
  };
}
