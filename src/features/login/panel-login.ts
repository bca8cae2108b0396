import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readFile } from 'node:fs/promises';
import type { Context } from 'hono';
import { readUciOption } from '../../config/uci-edit.ts';
import { readSmallFile } from '../../device/owner-file.ts';
import type { Paths } from '../../device/paths.ts';
import { DepotError, reasonOf } from '../../errors.ts';
import { clientOf } from '../../http/peer.ts';
import { attempt, type AttemptTools } from './attempts.ts';
import type { LoginMethod } from './login-method.ts';
import { missing } from './password-login.ts';
import { noRight, type Origin, type PanelSessions } from './panel-sessions.ts';
import { isSessionId, type Rpcd, type RpcdSession } from './rpcd.ts';
import type { NewSession } from './session-cookie.ts';

export interface PanelLoginTools extends AttemptTools {
  sessions: PanelSessions;
  rpcd: Rpcd;
  /** Folder of the UCI file `luci`. */
  uciDir: string;
  onDevice: Paths['onDevice'];
  /** Root of the CGI path tree. */
  base: string;
}

const WRONG = 'cannot log in: the user name or the password is wrong';
const OWNER = 'root';
/** LuCI's own, if its configuration does not say. */
const SESSION_TIMEOUT_S = 3600;
/** rpcd counts in milliseconds, with 32 bits. */
const LONGEST_TIMEOUT_S = 2_147_483;
/**
 * A refusal takes at least this long: rpcd computes a hash for a user that it knows, and answers at
 * once for any other.
 */
const REFUSAL_MS = 500;

/** `main.auth panel`: the users and passwords of the device's admin panel. */
export function createPanelLogin(tools: PanelLoginTools): LoginMethod {
  const { sessions, base } = tools;
  const begin = (context: Context, session: RpcdSession, origin: Origin): NewSession =>
    sessions.begin(context.req.raw.headers, session, origin);
  return {
    cookiePath: base,
    form: async () => ({
      asksUser: true,
      isPasswordSet: true,
      isOwnerWithout: (await hasOwnerPassword(tools)) === false,
    }),
    logIn: async (context, { username = OWNER, password, session }) => {
      if (session !== undefined) {
        return begin(context, await handedOver(tools, context, session), 'handed over');
      }
      if (password === undefined) throw missing('password');
      const login = await logIn(tools, context, { username, password });
      return begin(context, login.session, login.isShared ? 'shared' : 'own');
    },
    logOut: (headers, token) => sessions.logOut(headers, token),
  };
}

/** A session stays LuCI's: refused here, it goes on there. */
async function handedOver(
  { rpcd }: PanelLoginTools,
  context: Context,
  id: string,
): Promise<RpcdSession> {
  const client = clientOf(context).address;
  const session = isSessionId(id) ? await rpcd.find({ id, isKnown: false, client }) : undefined;
  if (session === undefined) {
    throw new DepotError(
      'forbidden',
      'cannot log in: the session is not valid, has ended, or nobody has logged in to it',
    );
  }
  if (!session.mayRead) throw noRight(session.username);
  return session;
}

async function logIn(
  tools: PanelLoginTools,
  context: Context,
  { username, password }: { username: string; password: string },
): Promise<{ session: RpcdSession; isShared: boolean }> {
  const { rpcd, log } = tools;
  const timeoutS = await sessionTimeout(tools.uciDir);
  const beganAt = performance.now();
  const login = await attempt(
    { ...tools, wrong: WRONG },
    context,
    async ({ isTrusted, client }) => {
      const answer = await rpcd.logIn({ username, password, timeoutS, isTrusted, client });
      if (answer === undefined) await delay(REFUSAL_MS - (performance.now() - beganAt));
      return answer;
    },
  );
  if (login.session.mayRead) return login;
  if (!login.isShared) {
    await rpcd
      .destroy(login.session.id)
      .catch((error: unknown) =>
        log.warn({ reason: reasonOf(error) }, 'session of the panel not ended'),
      );
  }
  throw noRight(login.session.username);
}

/** Largest file of LuCI's settings, which its owner edits by hand. */
const MOST_CONFIG_BYTES = 1024 ** 2;

/** As LuCI's own log-in has it: UCI's luci.sauth.sessiontime, in seconds; 0: never ends. */
async function sessionTimeout(uciDir: string): Promise<number> {
  const text = (await readSmallFile(join(uciDir, 'luci'), MOST_CONFIG_BYTES)) ?? '';
  const value = readUciOption(text, { section: 'sauth', type: 'internal', option: 'sessiontime' });
  const isUsable = value !== undefined && /^\d{1,7}$/.test(value);
  return isUsable && Number(value) <= LONGEST_TIMEOUT_S ? Number(value) : SESSION_TIMEOUT_S;
}

/** An empty second field of shadow(5) lets root in without one; undefined if it cannot be read. */
export async function hasOwnerPassword({
  onDevice,
}: Pick<Paths, 'onDevice'>): Promise<boolean | undefined> {
  const text = await readFile(onDevice('/etc/shadow'), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : !/^root::/m.test(text);
}
