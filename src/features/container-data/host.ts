import { valuesOf } from '../../config/config.ts';
import type { FeatureContext } from '../feature.ts';
import { createDataRootSettings } from './engine/data-root-setting.ts';
import { createContainerEngine } from './engine/engine.ts';
import { createLocations } from './locations.ts';
import { CONTAINER_SECTION } from './options.ts';
import { createCopier } from './rsync/rsync.ts';

/** The container engine of the device, its data and its tools. */
export type ContainerHost = ReturnType<typeof createContainerHost>;

export function createContainerHost({ paths, environment, config }: FeatureContext) {
  return {
    engine: createContainerEngine({
      paths,
      environment,
      settings: () => valuesOf(config(), CONTAINER_SECTION),
    }),
    settings: createDataRootSettings(paths),
    locations: createLocations(environment),
    copier: createCopier(environment),
  };
}
