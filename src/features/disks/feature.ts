import { createBlockDevices } from './block-devices.ts';
import { createDisks } from './disks.ts';
import { diskRoutes } from './routes.ts';
import type { Feature, FeatureContext } from '../feature.ts';

/** The block devices of the device. */
export function createDisksFeature({ environment, log }: FeatureContext): Feature {
  const disks = createDisks({ host: createBlockDevices(environment), log });
  return {
    routes: () => diskRoutes(disks),
    close: () => {
      disks.close();
      return Promise.resolve();
    },
  };
}
