import type { IncomingMessage } from 'node:http';
import type { Context as AnyContext } from 'hono';
import { Hono } from 'hono/tiny';
import { DepotError, reasonOf } from '../errors.ts';
import type { Log } from '../log.ts';
import { checkHost, checkOrigin, checkToken, type KnownHosts } from './guard.ts';
import { checkCoding, checkParameters, readParameters, readQuery } from './parameters.ts';
import { packed } from './packed.ts';
import { calledAddress, isFirstHand, type Ends } from './peer.ts';
import { refusal, Refusal } from './respond.ts';
import type { Route, Session } from './route.ts';
import { createSessionWatch, type SessionWatch } from './session/session-watch.ts';
import type { Sessions } from './session/sessions.ts';
import { createTickets, ticketPath, type Tickets } from './session/tickets.ts';

export interface AppOptions {
  /** Root of the CGI path tree. */
  base: string;
  routes: readonly Route[];
  hosts: KnownHosts;
  sessions: Sessions;
  /** The owner: whoever connects where `isAt` says has these sessions, and needs no token. */
  owner: { sessions: Sessions; isAt: (socket: Ends) => boolean };
  /** Aborts when the daemon stops. */
  stopping: AbortSignal;
  log: Log;
}

/** What the adapter to Node hands on beside the request. */
export interface Bindings {
  incoming: IncomingMessage;
}

/** Whose sessions count on a connection, and what reports that a session has ended. */
interface Access {
  sessions: Sessions;
  watch: SessionWatch;
  isOwner: boolean;
}

type Options = AppOptions & { access: (context: Context) => Access; tickets: Tickets };
type App = Hono<{ Bindings: Bindings }>;
type Context = AnyContext<{ Bindings: Bindings }>;

/**
 * The whole interface. Each request passes: Host → path → method → origin → session →
 * token → parameters → handler; whatever refuses it answers, and nothing behind it runs.
 */
export function createApp(appOptions: AppOptions): App {
  const options = {
    ...appOptions,
    access: createAccess(appOptions),
    tickets: createTickets(),
  };
  const app: App = new Hono();
  app.use(async (context, next) => {
    if (options.stopping.aborted) {
      throw new DepotError('unavailable', 'cannot answer: the daemon is stopping');
    }
    const called = calledAddress(context.env.incoming.socket, context.req.header('forwarded'));
    checkHost(context.req.header('host'), options.hosts, called);
    await next();
  });
  // No path is a pattern: hono's routers would compile all of them at the first request.
  const routesOf = groupByPath(options);
  app.all('*', (context) => {
    const { path } = context.req;
    const routes = routesOf.get(path);
    if (routes === undefined) {
      throw new DepotError('not_found', `cannot find ${path.slice(0, 200)}`);
    }
    return answer(options, routes, context);
  });
  app.onError((error, context) => {
    logUnexpected(options, context, error);
    return refusal(error, { isTask: false });
  });
  return app;
}

/** What a web server hands on is never the owner's, wherever it comes in. */
function createAccess({ sessions, owner }: AppOptions): Options['access'] {
  const usual = { sessions, watch: createSessionWatch(sessions), isOwner: false };
  const { sessions: own } = owner;
  const ofOwner = { sessions: own, watch: createSessionWatch(own), isOwner: true };
  return (context) =>
    owner.isAt(context.env.incoming.socket) && isFirstHand(context) ? ofOwner : usual;
}

function pathOf(route: Route, base: string): string {
  return route.path.startsWith('/') ? route.path : `${base}/${route.path}`;
}

function groupByPath({ base, routes }: AppOptions): Map<string, Route[]> {
  const groups = new Map<string, Route[]>();
  for (const route of routes) {
    const path = pathOf(route, base);
    groups.set(path, [...(groups.get(path) ?? []), route]);
  }
  return groups;
}

async function answer(options: Options, routes: readonly Route[], context: Context) {
  const method = context.req.raw.method === 'HEAD' ? 'GET' : context.req.raw.method;
  const route = routes.find((candidate) => candidate.method === method);
  if (route === undefined) return wrongMethod(routes, context);
  try {
    return await packed(context.req.raw, await handle(options, route, context));
  } catch (error) {
    logUnexpected(options, context, error);
    return refusal(error, { isTask: route.isTask });
  }
}

function logUnexpected({ log }: AppOptions, { req: { path } }: Context, error: unknown): void {
  if (error instanceof DepotError) return;
  const stack = error instanceof Error ? error.stack : undefined;
  log.error({ path, reason: reasonOf(error), stack }, 'request failed');
}

function wrongMethod(routes: readonly Route[], { req }: Context): Response {
  const allowed = routes.map(({ method }) => (method === 'GET' ? 'GET, HEAD' : method)).join(', ');
  const message = `cannot ${req.raw.method} ${req.path}: it takes ${allowed}`;
  const error = new Refusal('method_not_allowed', message, { headers: { Allow: allowed } });
  return refusal(error, { isTask: routes.some(({ isTask }) => isTask) });
}

async function handle({ base, access, tickets }: Options, route: Route, context: Context) {
  const request = context.req.raw;
  const { sessions, watch, isOwner } = access(context);
  if (route.method === 'POST') checkOrigin(request.headers);
  const headers = redeemTicket(tickets, route, request) ?? request.headers;
  const session = await sessionFor(sessions, route, { request, headers });
  checkQuery(route, request);
  checkCoding(request);
  const values = route.acceptsUpload
    ? readQuery(request)
    : await readParameters(request, context.env.incoming);
  const given = givenToken(headers, values);
  if (!isOwner && (route.needsToken || (route.acceptsUpload && given !== undefined))) {
    checkToken(given, session);
  }
  const params = checkParameters(route.params, values);
  if (route.method === 'POST') checkNames(route, values);
  return route.handle({
    params,
    context,
    session,
    watchSession: (onEnd) => watch(headers, onEnd),
    issueTicket: (path) => tickets.issue(ticketPath(base, path), headers),
  });
}

/** The header counts first: who sends it writes no token into an address, nor into a form. */
function givenToken(
  headers: Headers,
  values: ReadonlyMap<string, string[]>,
): readonly string[] | undefined {
  const parameter = values.get('token');
  const header = headers.get(TOKEN_HEADER);
  return header === null || (parameter?.length ?? 0) > 1 ? parameter : [header];
}

const TOKEN_HEADER = 'x-csrf-token';

/** @returns the headers of whoever asked for the ticket that a read brings */
function redeemTicket(tickets: Tickets, { method, access }: Route, { url }: Request) {
  // Almost none has one, and an address costs its parsing.
  if (method !== 'GET' || access !== 'session' || !url.includes('ticket=')) return undefined;
  const address = new URL(url);
  const ticket = address.searchParams.get('ticket');
  return ticket === null ? undefined : tickets.redeem(ticket, address);
}

async function sessionFor(
  sessions: Sessions,
  { access, isStream, needsWrite }: Route,
  { request, headers }: { request: Request; headers: Headers },
): Promise<Session> {
  if (access === 'open') return { user: '', token: '', mayWrite: false };
  const isUse = !isStream && !isBackground(request);
  const session = await (isUse ? sessions.find(headers) : sessions.peek(headers));
  if (session === undefined) {
    throw new Refusal('forbidden', 'cannot answer without a log-in', {
      headers: { 'X-LuCI-Login-Required': 'yes' },
    });
  }
  if (needsWrite && !session.mayWrite) {
    const message = `cannot take a change from "${session.user}", who may only read`;
    throw new DepotError('forbidden', message);
  }
  return session;
}

/** A page that asks by itself says so: it would keep the session of a user who has gone. */
function isBackground(request: Request): boolean {
  return request.method !== 'POST' && readQuery(request).get('background')?.[0] === '1';
}

/** Parameters of every operation; `_t` and its like are the panel's, against caches. */
const KNOWN_NAMES = ['token', 'background'];

/** An unknown name might have been meant to hold a change back (`dry_run=1`). @throws DepotError */
function checkNames({ params, path }: Route, values: ReadonlyMap<string, unknown>): void {
  for (const name of values.keys()) {
    if (Object.hasOwn(params, name) || KNOWN_NAMES.includes(name) || name.startsWith('_')) continue;
    const message = `cannot use the parameter ${name.slice(0, 100)}: ${path} does not know it`;
    throw new DepotError('bad_request', message);
  }
}

/** @throws DepotError bad_request that names the parameter */
function checkQuery({ bodyOnly }: Route, request: Request): void {
  if (bodyOnly.length === 0) return;
  const query = readQuery(request);
  const misplaced = bodyOnly.find((name) => query.has(name));
  if (misplaced === undefined) return;
  throw new DepotError(
    'bad_request',
    `cannot take the parameter ${misplaced} from the query, which servers log: send it in the body`,
  );
}
