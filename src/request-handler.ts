import { access, constants } from 'node:fs/promises';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Config } from './config/config.ts';
import { VERSION } from './config/environment.ts';
import { parseListenAddress } from './config/listen-address.ts';
import { createOwnNames } from './device/own-names.ts';
import type { Paths } from './device/paths.ts';
import { DepotError, reasonOf } from './errors.ts';
import type { CallerRequest, CallerResponse } from './features/forge/caller.ts';
import type { Forge } from './features/forge/forge.ts';
import { openForge } from './features/forge/open-forge.ts';
import type { PlainRequest } from './features/forge/fast-path/plain-request.ts';
import { createYoungCollector } from './runtime/young-collector.ts';
import { createApp } from './http/app.ts';
import { checkHost, hostForm, type KnownHosts } from './http/guard.ts';
import { calledAddress } from './http/peer.ts';
import { refusal } from './http/respond.ts';
import type { Route } from './http/route.ts';
import { containerRoutes } from './features/container-data/routes.ts';
import { diskRoutes } from './features/disks/routes.ts';
import { entryRoutes } from './features/app-status/routes.ts';
import { identityRoutes } from './features/system/identity-routes.ts';
import { loginRoutes } from './features/login/routes.ts';
import { panelRoutes } from './features/page/routes.ts';
import { selfUpgradeRoutes } from './features/self-upgrade/routes.ts';
import { storeRoutes } from './features/packages/routes.ts';
import { systemRoutes } from './features/system/routes.ts';
import { taskRoutes } from './features/tasks/routes.ts';
import { uploadRoutes } from './features/uploads/routes.ts';
import type { Sessions } from './http/sessions.ts';
import type { Log } from './log.ts';
import type { Parts } from './compose.ts';
import { progressOf } from './features.ts';

/** What answers requests under one configuration; another configuration makes another. */
export interface Front {
  handle: RequestListener;
  /**
   * Answers a plain request for the forge; for any other it returns false, and has done nothing.
   */
  take: (request: PlainRequest, response: CallerResponse) => boolean;
  /** Ends the connections to the forge. */
  close: () => Promise<void>;
}

export interface FrontOptions {
  parts: Parts;
  config: Config;
  paths: Paths;
  log: Log;
  /** Aborts when the daemon stops. */
  stopping: AbortSignal;
  /** `main.auth` as it is when asked. */
  authInForce: () => Config['main']['auth'];
}

/**
 * A request is the forge's or the app's, by its raw target: the forge's is passed on as it stands,
 * and never parsed.
 */
export async function createFront(options: FrontOptions): Promise<Front> {
  const hosts = knownHosts(options);
  const forge = await openForgeBehind(options);
  const app = await createAppListener(options, { forge, hosts });
  return {
    handle: (request, response) => {
      if (!forge.owns(request.url ?? '')) app(request, response);
      else if (isForUs(options, { request, response, hosts })) forge.handle(request, response);
    },
    take: (request, response) => {
      if (!forge.owns(request.url) || problemOf(options, request, hosts) !== undefined) {
        return false;
      }
      forge.handle(request, response);
      return true;
    },
    close: () => forge.close(),
  };
}

function openForgeBehind({ parts, config, paths, log }: FrontOptions): Promise<Forge> {
  const sessions = parts.sessions[config.main.auth];
  return openForge({
    settings: config.forge,
    base: config.main.base,
    cacheDir: join(paths.uploadDir, 'forge-cache'),
    log,
    collector: createYoungCollector,
    publish: (event) => parts.events.publish({ event: event.event, data: event }),
    session: (request) => sessions.find(new Headers({ cookie: request.headers.cookie ?? '' })),
  });
}

const MIB = 1024 ** 2;

async function createAppListener(
  options: FrontOptions,
  { forge, hosts }: { forge: Forge; hosts: KnownHosts },
): Promise<RequestListener> {
  const { parts, config, paths, log, stopping } = options;
  const { host, tools, entries, disks, uploads, queue, logs, events, identity, login } = parts;
  const { base, auth } = config.main;
  const ailments = (): Promise<string[]> => findAilments(paths, stopping);
  const routes: Route[] = [
    ...storeRoutes({ catalog: tools.catalog, queue, logs }),
    ...entryRoutes({ files: host.apps, entries }),
    ...diskRoutes(disks),
    ...containerRoutes({ container: host.container, queue }),
    ...uploadRoutes({
      uploads,
      records: tools.records,
      queue,
      limitBytes: config.main.upload_max_mb * MIB,
      freeBytes: host.uploads.freeBytes,
    }),
    ...selfUpgradeRoutes({ packages: tools.packages, queue }),
    ...identityRoutes(identity),
    ...loginRoutes({ ...login, auth, base }),
    ...taskRoutes({ queue, logs, progressOf: (job) => progressOf(tools, job), stopping }),
    ...systemRoutes({
      queue,
      version: VERSION,
      ailments,
      forge,
      events,
      base,
      stopping,
      routes: () => routes,
    }),
    ...panelRoutes({ base, auth }),
  ];
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

/** What was opened under one log-in does not go on under another. */
function sessionsInForce({ parts, config: { main }, authInForce }: FrontOptions): Sessions {
  const { find, isOpen } = parts.sessions[main.auth];
  return { find, isOpen: async (headers) => authInForce() === main.auth && isOpen(headers) };
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
  response
    .writeHead(status, { 'content-type': 'application/json; charset=utf-8', connection: 'close' })
    .end(JSON.stringify({ code: status, msg: message }));
}

function knownHosts({ config: { main }, paths }: FrontOptions): KnownHosts {
  const addresses = main.listen.map(parseListenAddress);
  const names = addresses.flatMap((address) =>
    address.kind === 'tcp' ? [hostForm(address.host) ?? ''] : [],
  );
  const own = createOwnNames({ uciDir: paths.uciDir });
  return { listening: new Set(names), configured: main.hosts, isOwn: own.has };
}

async function findAilments({ stateDir, logDir }: Paths, stopping: AbortSignal): Promise<string[]> {
  const ailments = stopping.aborted ? ['the daemon is stopping'] : [];
  for (const folder of [stateDir, logDir]) {
    await access(folder, constants.W_OK).catch((error: unknown) =>
      ailments.push(`cannot write to ${folder}: ${reasonOf(error)}`),
    );
  }
  return ailments;
}
