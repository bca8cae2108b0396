import { UBUS_SOCKET } from '../../config/environment.ts';
import { createPeerUsers } from '../../device/peer-user.ts';
import type { Notes } from '../../device/ports.ts';
import { createOpenSessions } from '../../http/session/sessions.ts';
import type { Feature, FeatureContext, SessionsByAuth } from '../feature.ts';
import { createAttemptLimit } from './attempt-limit.ts';
import { createFirstPassword } from './first-password.ts';
import { createPanelSessions } from './panel-sessions.ts';
import { createPasswordSessions } from './password-sessions.ts';
import { createPassword } from './password.ts';
import { loginRoutes } from './routes.ts';
import { createRpcd } from './rpcd.ts';

/** Who is logged in, and how people log in. */
export function createLoginFeature(
  context: FeatureContext,
): Feature & { sessions: SessionsByAuth } {
  const { paths, log, config, notes } = context;
  const { stateDir, uciDir, onDevice } = paths;
  const rpcd = createRpcd({ socketPath: UBUS_SOCKET });
  const shared = { limit: createAttemptLimit(), peerUsers: createPeerUsers(), log };
  const sessions = {
    panel: createPanelSessions({ rpcd, log }),
    password: createPasswordSessions(),
    none: createOpenSessions((token) => exchangeToken(notes, token)),
  };
  const panel = { ...shared, sessions: sessions.panel, rpcd, uciDir, onDevice };
  const password = {
    ...shared,
    sessions: sessions.password,
    password: createPassword(stateDir),
    firstPassword: createFirstPassword(stateDir),
  };
  return {
    sessions,
    documentation: async () => (await import('./documentation.ts')).LOGIN_DOCUMENTATION,
    checks: async () =>
      (await import('./checks.ts')).loginChecks({
        auth: config().main.auth,
        paths,
        ownPassword: password,
      }),
    routes: ({ config: { main } }) =>
      loginRoutes({ auth: main.auth, panel: { ...panel, base: main.base }, password, log }),
  };
}

const NOTE = 'open-token';

/** A page that was open before the daemon's restart goes on with its token. */
async function exchangeToken(notes: Notes, token: string): Promise<string | undefined> {
  const former = await notes.read(NOTE);
  // Without room for the token the next run takes this one's no more.
  await notes.write(NOTE, token).catch(() => undefined);
  return typeof former === 'string' && former.length >= token.length ? former : undefined;
}
