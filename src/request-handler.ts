import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Config } from './config/config.ts';
import { parseListenAddress } from './config/listen-address.ts';
import { createOwnNames } from './device/own-names.ts';
import { DepotError, reasonOf } from './errors.ts';
import type { Features } from './features.ts';
import type { FeatureContext, HealthReport, Overview } from './features/feature.ts';
import type { CallerRequest } from './features/forge/caller.ts';
import type { Forge } from './features/forge/forge.ts';
import { createApp } from './http/app.ts';
import { checkHost, checkOneHost, hostForm, type KnownHosts } from './http/guard.ts';
import { calledAddress } from './http/peer.ts';
import type { Answering } from './http/listeners.ts';
import { refusal } from './http/respond.ts';
import type { Route } from './http/route.ts';
import type { Sessions } from './http/sessions.ts';

/** What answers requests under one configuration; another configuration makes another. */
export interface Front extends Answering {
  /** Ends the connections to the forge. */
  close: () => Promise<void>;
}

export interface FrontOptions extends Pick<FeatureContext, 'paths' | 'log' | 'stopping'> {
  features: Features;
  config: Config;
  /** `main.auth` as it is when asked. */
  authInForce: () => Config['main']['auth'];
}

/**
 * A request is the forge's or the app's, by its raw target: the forge's is passed on as it stands,
 * and never parsed.
 */
export async function createFront(options: FrontOptions): Promise<Front> {
  const hosts = knownHosts(options);
  const forge = await options.features.forge.open(options.config);
  const app = await createAppListener(options, { forge, hosts });
  return {
    handle: (request, response) => {
      try {
        checkOneHost(request.rawHeaders);
      } catch (error) {
        refuse(response, error);
        return;
      }
      if (!forge.owns(request.url ?? '')) app(request, response);
      else if (isForUs(options, { request, response, hosts })) forge.handle(request, response);
    },
    hook: forge.hook((request) => problemOf(options, request, hosts) === undefined),
    close: () => forge.close(),
  };
}

async function createAppListener(
  options: FrontOptions,
  { forge, hosts }: { forge: Forge; hosts: KnownHosts },
): Promise<RequestListener> {
  const { features, config, stopping, log } = options;
  const { base } = config.main;
  const overview = overviewOf(features, forge, () => routes);
  const routes = features.list.flatMap((feature) => feature.routes?.({ config, overview }) ?? []);
  const app = createApp({ base, routes, hosts, sessions: sessionsInForce(options), stopping, log });
  // What the adapter refuses before the app sees it: a Host or a target that makes no URL.
  const errorHandler = (error: unknown): Response =>
    refusal(new DepotError('bad_request', `cannot read the request: ${reasonOf(error)}`), {
      isTask: false,
    });
  // Not before: it takes hold of the Fetch classes, which are deferred first.
  const { getRequestListener } = await import('@hono/node-server');
  const answer = getRequestListener(app.fetch, { errorHandler });
  return (request, response) => void answer(request, response);
}

/** What the features say together, the forge of this configuration among them. */
function overviewOf({ list }: Features, forge: Forge, routes: () => readonly Route[]): Overview {
  return {
    routes,
    operations: () => forge.describe(),
    health: async () => {
      const own: HealthReport = { facts: { forge: forge.health() } };
      const others = list.map(async ({ health }) => (await health?.()) ?? {});
      const reports: HealthReport[] = [own, ...(await Promise.all(others))];
      return {
        problems: reports.flatMap(({ problems = [] }) => problems),
        facts: Object.fromEntries(reports.flatMap(({ facts = {} }) => Object.entries(facts))),
      };
    },
    metrics: () => [...list.flatMap((feature) => feature.metrics?.() ?? []), ...forge.metrics()],
  };
}

/** What was opened under one log-in does not go on under another. */
function sessionsInForce({ features, config: { main }, authInForce }: FrontOptions): Sessions {
  const { find, peek } = features.sessions[main.auth];
  return {
    find,
    peek: (headers) => (authInForce() === main.auth ? peek(headers) : Promise.resolve(undefined)),
  };
}

function isForUs(
  options: FrontOptions,
  {
    request,
    response,
    hosts,
  }: { request: IncomingMessage; response: ServerResponse; hosts: KnownHosts },
): boolean {
  const problem = problemOf(options, request, hosts);
  if (problem !== undefined) refuse(response, problem);
  return problem === undefined;
}

/** The forge's requests, too, must name this device and find it working. */
function problemOf(
  { stopping }: FrontOptions,
  { headers, socket }: CallerRequest,
  hosts: KnownHosts,
): unknown {
  try {
    if (stopping.aborted) {
      throw new DepotError('unavailable', 'cannot answer: the daemon is stopping');
    }
    checkHost(headers.host, hosts, calledAddress(socket, headers.forwarded));
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Answers outside of the app, in the same shape. */
export function refuse(response: ServerResponse, error: unknown): void {
  const { status, message } =
    error instanceof DepotError ? error : new DepotError('internal', reasonOf(error));
  const body = JSON.stringify({ code: status, msg: message });
  response
    .writeHead(status, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      connection: 'close',
    })
    .end(body);
}

function knownHosts({ config: { main }, paths }: FrontOptions): KnownHosts {
  const addresses = main.listen.map(parseListenAddress);
  const names = addresses.flatMap((address) =>
    address.kind === 'tcp' ? [hostForm(address.host) ?? ''] : [],
  );
  const own = createOwnNames({ uciDir: paths.uciDir });
  return { listening: new Set(names), configured: main.hosts, isOwn: own.has };
}
