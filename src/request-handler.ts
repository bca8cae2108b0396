import { IncomingMessage, ServerResponse, type RequestListener } from 'node:http';
import { Socket } from 'node:net';
import type { Config } from './config/config.ts';
import { parseListenAddress } from './config/listen-address.ts';
import { createOwnNames } from './device/own-names.ts';
import { DepotError, reasonOf } from './errors.ts';
import type {
  Feature,
  FeatureContext,
  Overview,
  PassThrough,
  RequestHead,
} from './features/feature.ts';
import type { HealthReport } from './http/health-report.ts';
import { createApp } from './http/app.ts';
import {
  checkFieldCount,
  checkHost,
  checkOneHost,
  hostForm,
  type KnownHosts,
} from './http/guard.ts';
import { calledAddress, type Ends } from './http/peer.ts';
import type { Answering } from './http/listeners.ts';
import type { Metric } from './http/metrics-text.ts';
import { refusal } from './http/respond.ts';
import type { Route } from './http/route.ts';
import type { Sessions } from './http/session/sessions.ts';

/** What answers requests under one configuration; another configuration makes another. */
export type RequestHandler = Awaited<ReturnType<typeof createRequestHandler>>;

export interface RequestHandlerOptions extends Pick<FeatureContext, 'paths' | 'log' | 'stopping'> {
  features: readonly Feature[];
  config: Config;
  /** `main.auth` as it is when asked. */
  authInForce: () => Config['main']['auth'];
  /** Whether a connection came in at the owner's own socket. */
  isForOwner: (socket: Ends) => boolean;
}

/** By its raw target a request is passed on as it stands, never parsed, or the API answers. */
export async function createRequestHandler(options: RequestHandlerOptions) {
  const hosts = knownHosts(options);
  const passed = await openPassed(options);
  const api = await createApiListener(options, { passed, hosts });
  const answering: Answering = {
    handle: (request, response) => {
      const owner = passed.find(({ owns }) => owns(request.url ?? ''));
      try {
        checkFieldCount(request);
        checkOneHost(request);
        if (owner !== undefined) checkAccepted(options, request, hosts);
      } catch (error) {
        refuse(response, error);
        return;
      }
      if (owner === undefined) api(request, response);
      else owner.handle(request, response);
    },
    hook: passed
      .map(({ hook }) => hook((request) => isAccepted(options, request, hosts)))
      .find((hook) => hook !== undefined),
  };
  /** Ends what was opened for this configuration. */
  const close = (): void => passed.forEach((each) => each.close());
  return { ...answering, close };
}

/** Answers a request that nobody made and nobody hears: V8 compiles what an answer takes. */
export function rehearse({ handle }: Answering): void {
  const request = new IncomingMessage(new Socket());
  const headers = { host: 'localhost' };
  const rawHeaders = Object.entries(headers).flat();
  Object.assign(request, { method: 'GET', url: '/healthz', headers, rawHeaders });
  handle(request, new ServerResponse(request));
}

async function openPassed({ features, config }: RequestHandlerOptions): Promise<PassThrough[]> {
  const opened = await Promise.all(features.map(async ({ passThrough }) => passThrough?.(config)));
  return opened.filter((passThrough) => passThrough !== undefined);
}

async function createApiListener(
  options: RequestHandlerOptions,
  { passed, hosts }: { passed: readonly PassThrough[]; hosts: KnownHosts },
): Promise<RequestListener> {
  const { features, config, stopping, log } = options;
  const { base } = config.main;
  const overview = overviewOf({ features, passed, base }, () => routes);
  const routes = features.flatMap((feature) => feature.routes?.({ config, overview }) ?? []);
  const app = createApp({
    ...{ base, routes, hosts, stopping, log },
    sessions: sessionsInForce(options),
    owner: { sessions: sessionsBy('none', options), isAt: options.isForOwner },
  });
  // What the adapter refuses before the app sees it: a Host or a target that makes no URL.
  const errorHandler = (error: unknown): Response => {
    const message = `cannot read the request: ${reasonOf(error)}`;
    return refusal(new DepotError('bad_request', message), { isTask: false });
  };
  // Loaded only now: it refers to the Fetch classes, whose deferral comes first.
  const { getRequestListener } = await import('@hono/node-server');
  const answer = getRequestListener(app.fetch, { errorHandler });
  return (request, response) => void answer(request, response);
}

/** What the features say together, and what this configuration passes on. */
function overviewOf(
  sources: { features: readonly Feature[]; passed: readonly PassThrough[]; base: string },
  routes: () => readonly Route[],
): Overview {
  const { features, passed, base } = sources;
  const all = [...features, ...passed];
  return {
    routes,
    passed: async () =>
      (await Promise.all(passed.map(({ describe }) => describe()))).flatMap((each) => each ?? []),
    documentation: async () => {
      const described = features.map(async ({ documentation }) => documentation?.(base));
      return (await Promise.all(described)).filter((each) => each !== undefined);
    },
    health: async () => {
      const own = passed.map(({ health }) => health());
      const others = features.map(async ({ health }) => (await health?.()) ?? {});
      const reports: HealthReport[] = [...own, ...(await Promise.all(others))];
      return {
        problems: reports.flatMap(({ problems = [] }) => problems),
        facts: Object.fromEntries(reports.flatMap(({ facts = {} }) => Object.entries(facts))),
      };
    },
    checks: async () => {
      const checked = await Promise.all(all.map(async ({ checks }) => checks?.()));
      return checked.flatMap((each) => each ?? []);
    },
    metrics: () => all.flatMap((source): readonly Metric[] => source.metrics?.() ?? []),
  };
}

/** What was opened under one log-in does not go on under another. */
function sessionsInForce(options: RequestHandlerOptions): Sessions {
  const { authInForce } = options;
  const { main } = options.config;
  const { find, peek } = sessionsBy(main.auth, options);
  return {
    find,
    peek: (headers) => (authInForce() === main.auth ? peek(headers) : Promise.resolve(undefined)),
  };
}

function sessionsBy(
  auth: Config['main']['auth'],
  { features }: Pick<RequestHandlerOptions, 'features'>,
): Sessions {
  const sessions = features.find((feature) => feature.sessions !== undefined)?.sessions;
  if (sessions === undefined) throw new Error('cannot tell who is logged in: no feature does');
  return sessions[auth];
}

/** What is passed on must name this device, too. @throws DepotError unavailable, foreign_host */
function checkAccepted(
  { stopping }: RequestHandlerOptions,
  { headers, socket }: RequestHead,
  hosts: KnownHosts,
): void {
  if (stopping.aborted) {
    throw new DepotError('unavailable', 'cannot answer: the daemon is stopping');
  }
  checkHost(headers.host, hosts, calledAddress(socket, headers.forwarded));
}

function isAccepted(...checked: Parameters<typeof checkAccepted>): boolean {
  try {
    checkAccepted(...checked);
    return true;
  } catch {
    // What answers in the place of the pass-through says why.
    return false;
  }
}

/** Answers outside of the app, in the same shape. */
export function refuse(response: ServerResponse, error: unknown): void {
  const { status, message } =
    error instanceof DepotError ? error : new DepotError('internal', reasonOf(error));
  const body = JSON.stringify({ code: status, msg: message });
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  });
  response.end(body);
}

function knownHosts({ config: { main }, paths }: RequestHandlerOptions): KnownHosts {
  const addresses = main.listen.map(parseListenAddress);
  const names = addresses.flatMap((address) =>
    address.kind === 'tcp' ? [hostForm(address.host) ?? ''] : [],
  );
  const own = createOwnNames({ uciDir: paths.uciDir });
  return { listening: new Set(names), configured: main.hosts, isOwn: own.has };
}
