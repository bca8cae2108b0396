import { createAttemptLimit } from './attempt-limit.ts';
import { createPanelBus } from './panel-bus.ts';
import { createPanelSessions } from './panel-sessions.ts';
import { createPasswordSessions } from './password-sessions.ts';
import { createPassword } from './password.ts';
import { loginRoutes } from './routes.ts';
import type { Feature, FeatureContext } from '../feature.ts';
import type { Config } from '../../config/config.ts';
import { createOpenSessions, type Sessions } from '../../http/sessions.ts';

/** Who is logged in, and the daemon's own log-in. */
export interface LoginFeature extends Feature {
  /** By `main.auth`. */
  sessions: Record<Config['main']['auth'], Sessions>;
}

export function createLoginFeature({ paths, environment, log }: FeatureContext): LoginFeature {
  const sessions = createPasswordSessions();
  const password = createPassword(paths.stateDir);
  const limit = createAttemptLimit();
  return {
    sessions: {
      panel: createPanelSessions({ bus: createPanelBus({ environment }), log }),
      password: sessions,
      none: createOpenSessions(),
    },
    routes: ({ config: { main } }) =>
      loginRoutes({ sessions, password, limit, log, auth: main.auth, base: main.base }),
  };
}
