import type { Context } from 'hono';
import * as v from 'valibot';
import { DepotError } from '../../errors.ts';
import type { Password } from './ports.ts';
import type { Log } from '../../log.ts';
import { loginPage } from '../../panel/login-page.ts';
import type { AttemptLimit } from './attempt-limit.ts';
import { SESSION_COOKIE, type PasswordSessions } from './password-sessions.ts';
import { isBehindTls, isFirstHand, peerOf } from '../../http/peer.ts';
import { refusal } from '../../http/respond.ts';
import { openGet, openPost, post, type Route } from '../../http/route.ts';

export interface LoginTools {
  /** `main.auth`: only with `password` is there anything to log in to. */
  auth: string;
  base: string;
  sessions: PasswordSessions;
  password: Password;
  limit: AttemptLimit;
  log: Log;
}

const passwordText = v.pipe(
  v.string(),
  v.minLength(1, 'it is empty'),
  v.maxLength(1024, 'at most 1024 characters are allowed'),
);

/** The daemon's own log-in, below `admin/`. */
export function loginRoutes(tools: LoginTools): Route[] {
  const { auth, base, sessions, log } = tools;
  const needPasswordMode = (): void => {
    if (auth !== 'password') {
      throw new DepotError('not_found', `cannot log in or out here: main.auth is ${auth}`);
    }
  };
  return [
    openGet({
      path: 'admin/login',
      summary: 'The log-in page',
      params: {},
      handle: () => {
        needPasswordMode();
        return loginPage(`${base}/`);
      },
    }),
    openPost({
      path: 'admin/login',
      summary: 'Log in: 204 and a cookie',
      params: { password: passwordText },
      handle: ({ params, context }) => {
        needPasswordMode();
        return logIn(tools, context, params.password);
      },
    }),
    post({
      path: 'admin/logout',
      summary: 'Log out',
      params: {},
      handle: ({ context }) => {
        needPasswordMode();
        sessions.end(context.req.raw.headers);
        log.info({ address: peerOf(context).address }, 'logged out');
        return done(cookie(context, '', '; Max-Age=0'));
      },
    }),
    openPost({
      path: 'admin/passwd',
      summary:
        'Set the password: with the old one, or, while none is set, from this host; all sessions end',
      params: { password: passwordText, old: v.optional(passwordText) },
      handle: ({ params, context }) => {
        needPasswordMode();
        return setPassword(tools, context, params);
      },
    }),
  ];
}

async function logIn(
  { sessions, password, limit, log }: LoginTools,
  context: Context,
  text: string,
): Promise<Response> {
  const { address } = peerOf(context);
  if (!(await password.isSet())) {
    throw new DepotError(
      'forbidden',
      'cannot log in: no password is set; depotctl passwd on the device sets one',
    );
  }
  const refused = await checkPassword({ password, limit, log }, address, text);
  if (refused !== undefined) return refused;
  const { headers } = context.req.raw;
  sessions.end(headers);
  log.info({ address }, 'logged in');
  return done(cookie(context, sessions.begin()));
}

async function setPassword(
  { sessions, password, limit, log }: LoginTools,
  context: Context,
  params: { password: string; old?: string | undefined },
): Promise<Response> {
  const { address } = peerOf(context);
  if (await password.isSet()) {
    if (params.old === undefined) {
      throw new DepotError(
        'forbidden',
        'cannot set the password without the parameter old: one is set already',
      );
    }
    const refused = await checkPassword({ password, limit, log }, address, params.old);
    if (refused !== undefined) return refused;
  } else if (!isFirstHand(context)) {
    throw new DepotError(
      'forbidden',
      'cannot set the first password from another host: use depotctl passwd on the device',
    );
  }
  await password.set(params.password);
  sessions.endAll();
  log.warn({ address }, 'password set');
  return done();
}

/**
 * @returns the refusal of an address that has tried too often
 * @throws DepotError forbidden where the password is wrong
 */
async function checkPassword(
  { password, limit, log }: Pick<LoginTools, 'password' | 'limit' | 'log'>,
  address: string,
  text: string,
): Promise<Response | undefined> {
  const waitS = limit.begin(address);
  if (waitS > 0) {
    const error = new DepotError(
      'too_many_attempts',
      `cannot log in: too many wrong attempts; try again in ${waitS} s`,
    );
    return refusal(error, { isTask: false, headers: { 'Retry-After': String(waitS) } });
  }
  if (!(await password.matches(text))) {
    log.warn({ address }, 'wrong password');
    throw new DepotError('forbidden', 'cannot log in: the password is wrong');
  }
  limit.forgive(address);
  return undefined;
}

/**
 * Unknown to scripts, and sent with nothing that another site begins (RFC 6265bis, section 5.6).
 */
function cookie(context: Context, value: string, further = ''): Record<string, string> {
  const secure = isBehindTls(context) ? '; Secure' : '';
  return {
    'set-cookie': `${SESSION_COOKIE}=${value}; Path=/; HttpOnly; SameSite=Strict${secure}${further}`,
  };
}

function done(headers: Record<string, string> = {}): Response {
  return new Response(null, { status: 204, headers: { 'cache-control': 'no-store', ...headers } });
}
