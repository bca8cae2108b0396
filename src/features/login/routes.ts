import type { Context } from 'hono';
import * as v from 'valibot';
import { DepotError } from '../../errors.ts';
import { weightsIn } from '../../http/packed.ts';
import { clientOf, isBehindTls } from '../../http/peer.ts';
import { mostCharacters } from '../../http/parameter-schemas.ts';
import { json, Refusal } from '../../http/respond.ts';
import { get, openGet, openPost, postAsReader, type Route } from '../../http/route.ts';
import { KEY_HEADER } from '../../http/session/sessions.ts';
import type { Log } from '../../log.ts';
import { languageOf } from '../../languages/language.js';
import { LANGUAGES } from '../../languages/languages.ts';
import type { LoginMethod, LoginParams } from './login-method.ts';
import { createPanelLogin, type PanelLoginTools } from './panel-login.ts';
import { createPasswordLogin, setPassword, type PasswordLoginTools } from './password-login.ts';
import { cookieHeader } from './session-cookie.ts';

export interface LoginTools {
  /** `main.auth`: with `none` there is nothing to log in to. */
  auth: 'panel' | 'password' | 'none';
  panel: PanelLoginTools;
  password: PasswordLoginTools;
  log: Log;
}

/** NUL by an escape that all engines know: clients of openapi.json read it with theirs. */
const NUL = String.raw`\x00`;
const WITHOUT_NUL = new RegExp(`^[^${NUL}]*$`);

/** rpcd reads its strings up to the first NUL: what is behind it would be no part of a password. */
const secretText = v.pipe(
  v.string(),
  mostCharacters(1024),
  v.regex(WITHOUT_NUL, 'NUL is not allowed'),
);
const passwordText = v.pipe(secretText, v.minLength(1, 'it is empty'));

/** How the page looks: a language or theme that it does not have is no error. */
const pageParams = { lang: v.optional(v.string()), theme: v.optional(v.string()) };

const TICKET_ROUTE = get({
  path: 'admin/ticket',
  summary: 'A ticket with which a browser opens one address by itself, once, within 30 s',
  params: { for: v.pipe(v.string(), v.minLength(1, 'it is empty'), mostCharacters(2048)) },
  handle: ({ params, issueTicket }) => json({ ticket: issueTicket(params.for) }),
});

/** The log-in, below `admin/`. */
export function loginRoutes({ auth, panel, password, log }: LoginTools): Route[] {
  const methods = {
    panel: createPanelLogin(panel),
    password: createPasswordLogin(password),
    none: undefined,
  };
  const inForce = (): LoginMethod => {
    const method = methods[auth];
    if (method !== undefined) return method;
    throw new DepotError('not_found', `cannot log in or out here: main.auth is ${auth}`);
  };
  return [
    openGet({
      path: 'admin/login',
      summary: 'The log-in page',
      params: pageParams,
      handle: async ({ context }) => {
        const { loginPage } = await import('../../panel/login-page.ts');
        const language = pageLanguage(context.req.raw);
        const answer = loginPage(await inForce().form(), { language });
        answer.headers.set('x-depotd-auth', auth);
        return answer;
      },
    }),
    openPost({
      path: 'admin/login',
      summary:
        "Log in: 204 and a cookie; with main.auth panel by the device's user and password, " +
        'or by a session of rpcd',
      bodyOnly: ['password', 'session'],
      params: {
        username: v.optional(secretText),
        // An empty password is one, too: a fresh device has none.
        password: v.undefinedable(secretText),
        session: v.undefinedable(secretText),
        page: v.optional(v.picklist(['1', 'script'], '1 or script is expected')),
        ...pageParams,
      },
      handle: async ({ params, context }) => {
        const method = inForce();
        const act = (): Promise<Record<string, string>> => logIn(method, context, { params, log });
        if (params.page === undefined) return done(await act());
        const { page, username } = params;
        return answerPage(method, { request: context.req.raw, username, page }, act);
      },
    }),
    TICKET_ROUTE,
    postAsReader({
      path: 'admin/logout',
      summary: 'Log out',
      handle: async ({ context, session }) => {
        const method = inForce();
        await method.logOut(context.req.raw.headers, session.token);
        log.info({ address: clientOf(context).address }, 'logged out');
        return done(cookieHeader('', { path: method.cookiePath, isSecure: isBehindTls(context) }));
      },
    }),
    openPost({
      path: 'admin/passwd',
      summary:
        'Set the password: with the old one, or, while none is set, as root on this ' +
        'device; all sessions end',
      bodyOnly: ['password', 'old', 'proof'],
      params: {
        password: passwordText,
        old: v.optional(passwordText),
        proof: v.optional(secretText),
      },
      handle: async ({ params: { password: text, old, proof }, context }) => {
        if (auth !== 'password') {
          throw new DepotError('not_found', `cannot set a password here: main.auth is ${auth}`);
        }
        await setPassword(password, context, { text, old, proof });
        return done();
      },
    }),
  ];
}

/** @returns the headers with both halves of the session */
async function logIn(
  method: LoginMethod,
  context: Context,
  { params, log }: { params: LoginParams; log: Log },
): Promise<Record<string, string>> {
  const { id, key } = await method.logIn(context, params);
  log.info({ address: clientOf(context).address }, 'logged in');
  const cookie = cookieHeader(id, { path: method.cookiePath, isSecure: isBehindTls(context) });
  return { ...cookie, [KEY_HEADER]: key };
}

/**
 * The page again with what was wrong, or the next. A script reads the session's key from the
 * answer's header; for a browser it stands behind the `#`, which reaches no server.
 */
async function answerPage(
  { form }: LoginMethod,
  { request, username, page }: { request: Request; username: string | undefined; page: string },
  action: () => Promise<Record<string, string>>,
): Promise<Response> {
  try {
    const headers = await action();
    if (page === 'script') return done(headers);
    // Relative: a server in front may show another prefix (RFC 9110, section 10.2.2).
    const location = `../#key=${headers[KEY_HEADER] ?? ''}`;
    return new Response(null, {
      status: 303,
      headers: { 'cache-control': 'no-store', location, ...headers },
    });
  } catch (error) {
    if (!(error instanceof DepotError)) throw error;
    const { message, status } = error;
    const { loginPage } = await import('../../panel/login-page.ts');
    const fields = await form();
    const headers = error instanceof Refusal ? error.headers : {};
    return loginPage(fields, {
      language: pageLanguage(request),
      problem: { message, status, headers, username },
    });
  }
}

function done(headers: Record<string, string> = {}): Response {
  return new Response(null, { status: 204, headers: { 'cache-control': 'no-store', ...headers } });
}

/** Language of the log-in page: what the query's `lang` says, else what the browser prefers. */
export function pageLanguage({ url, headers }: Request): string {
  const wanted = new URL(url).searchParams.get('lang');
  return languageOf(
    wanted === null ? preferredLanguages(headers.get('accept-language') ?? '') : [wanted],
    LANGUAGES,
  );
}

/** Best first (RFC 9110, section 12.5.4). */
function preferredLanguages(header: string): string[] {
  return weightsIn(header)
    .filter(([, weight]) => weight > 0)
    .sort(([, one], [, other]) => other - one)
    .map(([tag]) => tag);
}
