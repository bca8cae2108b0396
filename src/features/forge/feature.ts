import { valuesOf } from '../../config/config.ts';
import { sessionPart } from '../../http/session/sessions.ts';
import type { Feature, FeatureContext, SessionsByAuth } from '../feature.ts';
import { answerFailure } from './failure.ts';
import type { Forge, ForgeOptions } from './forge.ts';
import { doubtOf, FORGE_SECTION } from './options.ts';
import { createTargetReader } from './target.ts';

/** The code forge behind the device. */
export function createForgeFeature(
  { log, events }: FeatureContext,
  { sessions }: { sessions: SessionsByAuth },
): Feature {
  return {
    passThrough: async (config) => {
      const { auth, base } = config.main;
      const settings = valuesOf(config, FORGE_SECTION);
      for (const reason of doubtOf(settings.path, base)) {
        log.warn({ reason }, 'panel hidden by the forge');
      }
      const forge = await openForge({
        settings,
        base,
        log,
        publish: (event) => events.publish({ event: event.event, data: event }),
        session: ({ headers }) =>
          sessions[auth].find(sessionPart((name) => headers[name]?.toString())),
      });
      return {
        ...forge,
        health: () => ({ facts: { forge: forge.health() } }),
        checks: async () => (await import('./checks.ts')).forgeChecks(forge.health),
      };
    },
  };
}

/**
 * A forge, or what answers 503 if none is configured. The proxy is loaded only where there is a
 * forge. @throws Error if `ca_file` cannot be read
 */
export async function openForge(options: ForgeOptions): Promise<Forge> {
  const { settings, base } = options;
  if (settings.upstream !== '') return (await import('./forge.ts')).createForge(options);
  return {
    owns: createTargetReader({ path: settings.path, base }).owns,
    handle: (_request, response) =>
      answerFailure(response, {
        code: 'unavailable',
        message: 'cannot reach a forge: none is configured (forge.upstream)',
      }),
    hook: () => undefined,
    describe: () => Promise.resolve(undefined),
    health: () => ({ configured: false }),
    metrics: () => [],
    close: () => undefined,
  };
}
