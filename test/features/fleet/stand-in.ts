import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer, type ServerOptions as TlsOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { deserialize, serialize } from 'node:v8';

import { configure, contentOf, pollOf } from './ddi-answers.ts';
import { feedback } from './ddi-feedback.ts';
import { isActive, TENANT, type Action, type Result, type State } from './ddi-state.ts';
import type { ActionState, Assignment, FleetServer } from './fleet-server.ts';
import { rollOutByGroups } from './groups.ts';

/**
 * A server of hawkBit's Direct Device Integration API that answers as hawkBit 1.0.4 was seen to
 * (docs/reference/ddi.md); `contract.test.ts` holds it to a real one. Requests that no device makes
 * are answered 500, so that a test fails.
 */
export interface StandIn extends FleetServer {
  /** All requests, `METHOD path`, oldest first. */
  readonly requests: string[];
  /** Has each request first; one that it answers goes no further. */
  intercept: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
  /** Answers one that was intercepted as usual. */
  readonly pass: (request: IncomingMessage, response: ServerResponse) => void;
  /** The content of an answer before it is sent. */
  rewrite: ((path: string, body: unknown) => unknown) | undefined;
  /** What a server that was put back from a backup has forgotten. */
  readonly snapshot: () => () => void;
  /** A soft action becomes a forced one, or a window opens. */
  readonly change: (action: string, how: Assignment) => void;
  /** Canceled by force: the device is not asked. */
  readonly forget: (action: string) => void;
}

/** Intercepts the downloads alone. */
export function ofDownloads(handle: RequestListener): StandIn['intercept'] {
  return (request, response) => {
    if (request.url?.includes('/artifacts/') !== true) return false;
    handle(request, response);
    return true;
  };
}

export interface StandInOptions {
  /** The interval of polls, `HH:mm:ss`. */
  sleep?: string;
  /** A free one by default. */
  port?: number;
  /** Serves https instead. */
  tls?: TlsOptions;
  /** Where all that it knows is on the disk before it answers; what is there it begins with. */
  file?: string;
}

export async function createStandIn({
  sleep = '00:05:00',
  port: wanted = 0,
  tls,
  file,
}: StandInOptions = {}): Promise<StandIn> {
  let state = file !== undefined && existsSync(file) ? readState(file) : emptyState();
  const keep = (): void => (file === undefined ? undefined : writeState(file, state));
  const requests: string[] = [];
  const handle: RequestListener = (request, response) => {
    requests.push(`${request.method ?? ''} ${request.url ?? ''}`);
    if (standIn.intercept?.(request, response) !== true) pass(request, response);
  };
  const pass: RequestListener = (request, response) => {
    void answer({ state, sleep, standIn, keep }, request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  };
  const server = tls === undefined ? createServer(handle) : createTlsServer(tls, handle);
  await new Promise<void>((resolve) => server.listen(wanted, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const nextId = (): string => String((state.lastId += 1));
  const need = (id: string): Action => needAction(state, id);

  const standIn: StandIn = {
    url: tls === undefined ? `http://127.0.0.1:${port}` : `https://localhost:${port}`,
    tenant: TENANT,
    requests,
    intercept: undefined,
    rewrite: undefined,
    pass,
    addTarget: (id) => {
      const token = randomBytes(16).toString('hex');
      state.tokens.set(id, token);
      return Promise.resolve(token);
    },
    publish: (modules) => {
      const id = nextId();
      state.sets.set(id, modules);
      return Promise.resolve(id);
    },
    assign: (set, target, how = {}) => {
      const id = nextId();
      addAction(state, { id, target, set, how });
      keep();
      return Promise.resolve(id);
    },
    rollOut: (set, { targets }) =>
      rollOutByGroups(targets, async (target) => {
        const id = await standIn.assign(set, target);
        return () => standIn.action(target, id);
      }),
    force: (_, id) => {
      standIn.change(id, { ...need(id).how, type: 'forced' });
      return Promise.resolve();
    },
    cancel: (_, id) => {
      need(id).state = 'canceling';
      return Promise.resolve();
    },
    action: (_, id) => {
      const action = need(id);
      return Promise.resolve({
        status: action.state,
        isActive: isActive(action),
        messages: action.messages,
      } satisfies ActionState);
    },
    attributes: (target) => Promise.resolve(state.attributes.get(target) ?? {}),
    forget: (id) => void (need(id).state = 'canceled'),
    change: (id, how) => void (need(id).how = how),
    snapshot: () => {
      const kept = structuredClone(state);
      return () => void (state = kept);
    },
    close: () => closeServer(server),
  };
  return standIn;
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

function openActionOf({ actions }: State, target: string): Action | undefined {
  return [...actions.values()].find((action) => action.target === target && isActive(action));
}

function addAction(state: State, wanted: Pick<Action, 'id' | 'target' | 'set' | 'how'>): void {
  const before = openActionOf(state, wanted.target);
  if (before !== undefined) before.state = 'canceling';
  const initial = wanted.how.isConfirmed === false ? 'waiting' : 'running';
  state.actions.set(wanted.id, { ...wanted, state: initial, messages: [], entries: 0 });
}

function needAction({ actions }: State, id: string): Action {
  const action = actions.get(id);
  if (action === undefined) throw new Error(`there is no action ${id}`);
  return action;
}

function emptyState(): State {
  return {
    tokens: new Map(),
    sets: new Map(),
    actions: new Map(),
    attributes: new Map(),
    lastId: 0,
  };
}

function readState(file: string): State {
  return deserialize(readFileSync(file)) as State;
}

function writeState(file: string, state: State): void {
  writeFileSync(`${file}.new`, serialize(state), { flush: true });
  renameSync(`${file}.new`, file);
}

interface Exchange {
  state: State;
  sleep: string;
  standIn: StandIn;
  keep: () => void;
}

async function answer(
  exchange: Exchange,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { state, standIn, keep } = exchange;
  const { target, path } = readTarget(request.url ?? '');
  const token = state.tokens.get(target);
  if (token === undefined || request.headers.authorization !== `TargetToken ${token}`) {
    response.writeHead(401).end();
    return;
  }
  const artifact = /^softwaremodules\/(\d+)-(\d+)\/artifacts\/(.+)$/.exec(path);
  if (artifact !== null) {
    sendArtifact(state, { request, response, artifact });
    return;
  }
  const body: unknown = request.method === 'GET' ? undefined : JSON.parse(await text(request));
  const hasHistory = request.url?.includes('actionHistory=') === true;
  const question = { method: request.method ?? '', target, path, hasHistory, body };
  const { status, content } = resultOf(exchange, question);
  if (question.method !== 'GET') keep();
  const json = JSON.stringify(standIn.rewrite?.(path, content) ?? content) as string | undefined;
  send(request, response, { status, json: json ?? '', isPoll: path === '' });
}

function readTarget(url: string): { target: string; path: string } {
  const path = url.split('?')[0] ?? '';
  const match = /^\/DEFAULT\/controller\/v1\/([^/]+)(?:\/(.*))?$/.exec(path);
  return { target: match?.[1] ?? '', path: match?.[2] ?? '' };
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  { status, json, isPoll }: { status: number; json: string; isPoll: boolean },
): void {
  const etag = `"${createHash('md5').update(json).digest('hex')}"`;
  if (isPoll && request.headers['if-none-match'] === etag) response.writeHead(304).end();
  else {
    const headers = { 'content-type': 'application/json', ...(isPoll ? { etag } : {}) };
    response.writeHead(status, headers).end(json);
  }
}

interface Question {
  method: string;
  target: string;
  path: string;
  hasHistory: boolean;
  body: unknown;
}

function resultOf({ state, sleep, standIn: { url } }: Exchange, question: Question): Result {
  const { method, target, path, hasHistory, body } = question;
  const origin = { state, sleep, url };
  if (path === '' && method === 'GET') return { status: 200, content: pollOf(origin, target) };
  if (path === 'configData' && method === 'PUT') return configure(state, target, body);
  const match = /^(deploymentBase|cancelAction|confirmationBase)\/(\w+)(\/feedback)?$/.exec(path);
  if (match === null) return { status: 500 };
  const [, kind = '', id = '', tail] = match;
  const action = state.actions.get(id);
  if (action?.target !== target) return { status: 404 };
  if ((tail !== undefined) !== (method === 'POST')) return { status: 405 };
  return tail === undefined
    ? contentOf(origin, action, { kind, hasHistory })
    : feedback(action, kind, body);
}

function sendArtifact(
  state: State,
  {
    request,
    response,
    artifact: [, set = '', index = '', name = ''],
  }: { request: IncomingMessage; response: ServerResponse; artifact: RegExpExecArray },
): void {
  const content = state.sets.get(set)?.[Number(index)]?.files?.[decodeURIComponent(name)];
  const range = /^bytes=(\d+)-$/.exec(request.headers.range ?? '');
  if (content === undefined) response.writeHead(404).end();
  else if (range === null) response.writeHead(200).end(content);
  else sendRange(response, content, Number(range[1]));
}

function sendRange(response: ServerResponse, content: Buffer, from: number): void {
  if (from >= content.length) {
    response.writeHead(416).end();
    return;
  }
  const range = `bytes ${from}-${content.length - 1}/${content.length}`;
  response.writeHead(206, { 'content-range': range }).end(content.subarray(from));
}
