import { join } from 'node:path';
import type { Forge } from './forge.ts';
import { openForge } from './open-forge.ts';
import { FORGE_SECTION } from './options.ts';
import { valuesOf, type Config } from '../../config/config.ts';
import type { Sessions } from '../../http/sessions.ts';
import { createYoungCollector } from '../../runtime/young-collector.ts';
import type { FeatureContext } from '../feature.ts';

/** The code forge behind the device: another one for each configuration. */
export interface ForgeFeature {
  /** @throws Error if `forge.ca_file` cannot be read */
  open: (config: Config) => Promise<Forge>;
}

export function createForgeFeature(
  { paths, log, events }: FeatureContext,
  { sessions }: { sessions: Record<Config['main']['auth'], Sessions> },
): ForgeFeature {
  return {
    open: (config) =>
      openForge({
        settings: valuesOf(config, FORGE_SECTION),
        base: config.main.base,
        cacheDir: join(paths.uploadDir, 'forge-cache'),
        log,
        collector: createYoungCollector,
        publish: (event) => events.publish({ event: event.event, data: event }),
        session: (request) =>
          sessions[config.main.auth].find(new Headers({ cookie: request.headers.cookie ?? '' })),
      }),
  };
}
