import type { Config } from '../../config/config.ts';
import type { Paths } from '../../device/paths.ts';
import { createContainerEngine } from './engine/engine.ts';
import type { ContainerHost } from './device.ts';
import { createDataRootSettings } from './engine/data-root-setting.ts';
import { createMoveFolders } from './target-folder.ts';
import { createPlaces } from './locations.ts';
import { createCopier } from './rsync/rsync.ts';

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
