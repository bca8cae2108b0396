import { Readable } from 'node:stream';
import { reasonOf } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { callerView, type CallerRequest, type CallerResponse } from './caller.ts';
import type { Credentials } from './credentials.ts';
import {
  mayNotify,
  mayRetarget,
  watchForEvent,
  type ForgeEvent,
  type TargetChange,
} from './events.ts';
import { answerFailure, type Failure } from './failure.ts';
import { withoutBodyHeaders, type HeaderLines } from './header-lines.ts';
import type { HealthRecord } from './health.ts';
import type { Metrics } from './metrics.ts';
import {
  bodyOf,
  outgoingBlock,
  outgoingHeaders,
  planBody,
  writeHead,
  writeLines,
  type BodyPlan,
} from './outgoing.ts';
import { createReply, type Reply } from './reply.ts';
import type { Route, RouteMatcher } from './routes.ts';
import { currentBase, requestedBase, type BodyReader } from './target-change.ts';
import type { ForgeTarget, TargetReader } from './target.ts';
import type { UpstreamAddress } from './upstream/address.ts';
import type { Call, RequestBody } from './upstream/call.ts';
import type { Pool } from './upstream/pool.ts';

export interface Services {
  address: UpstreamAddress;
  apiRoot: string;
  targets: TargetReader;
  matchRoute: RouteMatcher;
  credentials: Credentials;
  readAhead: BodyReader;
  pool: Pool;
  metrics: Metrics;
  health: HealthRecord;
  log: Log;
  publish: (event: ForgeEvent) => void;
}

/**
 * A request that needs no look into a session, a file or a body waits for nothing. When the caller
 * goes the call upstream ends; when the forge breaks off, so does the caller's connection.
 */
export function createProxy(
  services: Services,
): (request: CallerRequest, response: CallerResponse) => void {
  return (request, response) => {
    const exchange = begin(services, request, response);
    if ('code' in exchange) {
      services.metrics.recordFailure(exchange.code);
      answerFailure(response, exchange);
      return;
    }
    const { route } = exchange;
    const isPlain =
      !services.credentials.mayLend(request, exchange.target.path) && !mayRetarget(route);
    if (isPlain) {
      exchange.block = outgoingBlock(request);
      send(services, exchange, undefined);
    } else {
      sendPrepared(services, exchange).catch((error: unknown) =>
        fail(services, exchange, {
          code: 'internal',
          message: `cannot pass the request: ${reasonOf(error)}`,
        }),
      );
    }
  };
}

/** One request on its way. */
interface Exchange {
  request: CallerRequest;
  response: CallerResponse;
  method: string;
  route: Route;
  target: ForgeTarget;
  plan: BodyPlan;
  /** Header lines as they go out, but for `Host` and the length. */
  block: string;
  body: RequestBody | undefined;
  reply: Reply;
  /** Ends the call to the forge; until there is one, nothing. */
  cancel: () => void;
  hasFailed: boolean;
}

function begin(
  services: Services,
  request: CallerRequest,
  response: CallerResponse,
): Exchange | Failure {
  const { method = '', url = '' } = request;
  const startedAt = performance.now();
  const target = services.targets.read(url);
  if (typeof target === 'string') return { code: 'bad_request', message: target };
  const route = services.matchRoute(method, target.path);
  if (route === undefined) {
    const message = 'cannot find this operation: it is not one of the documented ones';
    return { code: 'not_found', message };
  }
  const plan = planBody(request);
  if ('code' in plan) return plan;
  const reply = createReply(response, {
    view: () => callerView(request, { apiRoot: services.apiRoot, target }),
    fail: (failure) => fail(services, exchange, failure),
  });
  const exchange: Exchange = {
    request,
    response,
    method,
    route,
    target,
    plan,
    block: '',
    body: bodyOf(request, plan),
    reply,
    cancel: () => undefined,
    hasFailed: false,
  };
  response.once('close', () => finish(services, exchange, startedAt));
  return exchange;
}

/** Sends the request on. @param change of the target branch that it asks for */
function send(services: Services, exchange: Exchange, change: TargetChange | undefined): void {
  const { route, target, reply } = exchange;
  const isWatched = change !== undefined || mayNotify(route);
  const sink = isWatched
    ? watchForEvent(reply, { route, path: target.path, change, publish: services.publish })
    : reply;
  exchange.cancel = services.pool.send(callOf(services, exchange), sink);
}

function callOf(
  { address, apiRoot }: Services,
  { method, target, block, plan, body }: Exchange,
): Call {
  const head = writeHead({
    method,
    target: `${address.prefix}${apiRoot}${target.path}${target.query}`,
    host: address.host,
    block,
    plan,
  });
  return { method, head, body };
}

/** Sends the request on after what has to be looked up first. */
async function sendPrepared(services: Services, exchange: Exchange): Promise<void> {
  const { request, response, route } = exchange;
  const headers = outgoingHeaders(request);
  if (services.credentials.mayLend(request, exchange.target.path)) {
    const lent = await services.credentials.lend(request);
    if (typeof lent === 'object') {
      fail(services, exchange, lent);
      return;
    }
    if (lent !== undefined) headers.push('Authorization', lent);
  }
  exchange.block = writeLines(headers);
  const change = mayRetarget(route) ? await changeOf(services, exchange, headers) : undefined;
  if (response.destroyed) return;
  send(services, exchange, change);
}

/** If a pull request's edit names a target branch, the forge is asked which one there is now. */
async function changeOf(
  services: Services,
  exchange: Exchange,
  headers: HeaderLines,
): Promise<TargetChange | undefined> {
  const { request, response, plan } = exchange;
  if (plan.kind === 'none' || exchange.method !== 'PATCH' || !(request instanceof Readable)) {
    return undefined;
  }
  const { bytes, isWhole } = await services.readAhead(request, response);
  exchange.body = bodyOf(request, plan, bytes);
  const to = isWhole ? requestedBase(bytes, request.headers['content-type']) : undefined;
  if (to === undefined) return undefined;
  const question = {
    ...exchange,
    method: 'GET',
    plan: { kind: 'none' } as const,
    body: undefined,
    block: writeLines(withoutBodyHeaders(headers)),
  };
  return { from: await currentBase(services.pool, callOf(services, question)), to };
}

/** In the log the operation's pattern stands for its path, which may hold names. */
function fail({ metrics, health, log }: Services, exchange: Exchange, failure: Failure): void {
  const { method, route, response } = exchange;
  exchange.hasFailed = true;
  metrics.recordFailure(failure.code);
  health.failed(failure);
  log.warn(
    { method, route: route.pattern, code: failure.code, reason: failure.message },
    'forge_request_failed',
  );
  answerFailure(response, failure);
}

function finish({ metrics, health, log }: Services, exchange: Exchange, startedAt: number): void {
  const { method, route, response, reply, body } = exchange;
  exchange.cancel();
  const seconds = (performance.now() - startedAt) / 1000;
  const status = response.headersSent ? response.statusCode : 0;
  if (status !== 0 && !exchange.hasFailed) health.reached();
  const finished = {
    route,
    method,
    status,
    seconds,
    requestBytes: body?.sentBytes ?? 0,
    responseBytes: reply.sentBytes(),
  };
  metrics.record(finished);
  if (DETAILED.has(log.level)) log.debug({ ...finished, route: route.pattern }, 'forge_request');
}

/** The levels that show each request. */
const DETAILED = new Set(['debug', 'trace']);
