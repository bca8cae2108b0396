import type { CallerRequest } from './caller.ts';
import { openForge } from './open-forge.ts';
import { doubtOf, FORGE_SECTION } from './options.ts';
import { valuesOf, type Config } from '../../config/config.ts';
import { sessionPart } from '../../http/session/sessions.ts';
import type { Feature, FeatureContext, PassThrough, SessionsByAuth } from '../feature.ts';

/** The code forge behind the device. */
export function createForgeFeature(
  context: FeatureContext,
  { sessions }: { sessions: SessionsByAuth },
): Feature {
  return { passThrough: (config) => openPassThrough(context, sessions, config) };
}

/** @throws Error if `forge.ca_file` cannot be read */
async function openPassThrough(
  { log, events }: FeatureContext,
  sessions: SessionsByAuth,
  config: Config,
): Promise<PassThrough> {
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
    session: ({ headers }) => sessions[auth].find(sessionHeaders(headers)),
  });
  return {
    ...forge,
    health: () => ({ facts: { forge: forge.health() } }),
    checks: async () => (await import('./checks.ts')).forgeChecks(() => forge.health()),
  };
}

function sessionHeaders(headers: CallerRequest['headers']): Headers {
  return sessionPart((name) => headers[name]?.toString());
}
