import type { Config } from '../config/config.ts';
import type { Paths } from '../config/paths.ts';
import { createContainerEngine } from './container-engine.ts';
import type { ContainerHost } from './container-goods.ts';
import { createDataRootSettings } from './data-root-settings.ts';
import { createMoveFolders } from './move-folders.ts';
import { createPlaces } from './places.ts';
import { createCopier } from './rsync.ts';

export interface ContainerHostOptions {
  paths: Paths;
  environment: Record<string, string>;
  /** The configuration of the engine in force when asked. */
  settings: () => Config['container'];
}

/** The real container engine of the device, its data and its tools. */
export function createContainerHost(options: ContainerHostOptions): ContainerHost {
  const { paths, environment } = options;
  return {
    engine: createContainerEngine(options),
    settings: createDataRootSettings(paths),
    places: createPlaces(environment),
    copier: createCopier(environment),
    moves: createMoveFolders(),
  };
}
