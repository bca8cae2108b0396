import { request, type IncomingMessage } from 'node:http';
import { DepotError, reasonOf, systemCode } from '../errors.ts';
import { parseEvents, type ServerEvent } from './server-events.ts';
import type { Target } from './target.ts';

export type Parameters = Record<string, string>;

/**
 * The daemon's interface. Every failure is a DepotError: `upstream_unreachable` where nobody answers, or somebody who is not the daemon;
 * `unavailable` while it stops; `command_failed` for everything else that it refuses, in its own words.
 */
export interface Client {
  get: (path: string, parameters?: Parameters) => Promise<unknown>;
  /** Fetches the token that a change needs, and sends it along. */
  post: (path: string, parameters: Parameters) => Promise<unknown>;
  /** A change that needs no token, such as setting the password. */
  postForm: (path: string, form: Parameters) => Promise<unknown>;
  /** The body as it comes. */
  read: (path: string, parameters: Parameters) => AsyncGenerator<Buffer, void>;
  events: (path: string, parameters: Parameters) => AsyncGenerator<ServerEvent, void>;
}

/** How long an answer may take to begin; and how long a stream may be silent, in which the daemon gives a sign of life every 15 s. */
const SILENCE_MS = 45_000;

interface Call {
  target: Target;
  method: 'GET' | 'POST';
  path: string;
  parameters: Parameters;
}

export function createClient(target: Target): Client {
  const get = async (path: string, parameters: Parameters = {}): Promise<unknown> => readJson(target, await send({ target, method: 'GET', path, parameters }));
  const open = async (path: string, parameters: Parameters): Promise<IncomingMessage> => {
    const answer = await send({ target, method: 'GET', path, parameters });
    if ((answer.statusCode ?? 0) >= 400) await readJson(target, answer);
    return answer;
  };
  return {
    get,
    post: async (path, parameters) => {
      const token = tokenIn(await get('admin/store/token'));
      return readJson(target, await send({ target, method: 'POST', path, parameters: { ...parameters, token } }));
    },
    postForm: async (path, form) => readJson(target, await send({ target, method: 'POST', path, parameters: form })),
    read: async function* (path, parameters) {
      yield* chunksOf(target, await open(path, parameters));
    },
    events: async function* (path, parameters) {
      yield* parseEvents(chunksOf(target, await open(path, parameters)));
    },
  };
}

/** Parameters of a change go in the body, so that the token stands in no server's log. */
function send({ target, method, path, parameters }: Call): Promise<IncomingMessage> {
  const form = new URLSearchParams(parameters).toString();
  const query = method === 'GET' && form !== '' ? `?${form}` : '';
  const headers = method === 'POST' ? { 'content-type': 'application/x-www-form-urlencoded', 'content-length': Buffer.byteLength(form) } : {};
  return new Promise((resolve, reject) => {
    const call = request({ ...target.connection, method, path: `${target.prefix}/${path}${query}`, headers, agent: false, timeout: SILENCE_MS });
    call.on('response', resolve);
    call.on('timeout', () => call.destroy(new Error(`no sign of life for ${SILENCE_MS / 1000} s`)));
    call.on('error', (error) => reject(unreachable(target, error)));
    call.end(method === 'POST' ? form : undefined);
  });
}

async function* chunksOf(target: Target, answer: IncomingMessage): AsyncGenerator<Buffer, void> {
  try {
    for await (const chunk of answer) yield chunk as Buffer;
  } catch (error) {
    throw unreachable(target, error);
  }
}

async function readJson(target: Target, answer: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of chunksOf(target, answer)) chunks.push(chunk);
  const status = answer.statusCode ?? 0;
  if (status === 204) return undefined;
  const body = parseJson(Buffer.concat(chunks).toString('utf8'));
  if (body === undefined) throw new DepotError('upstream_unreachable', `cannot use the answer of ${target.url}${target.prefix}: it is not depotd's (HTTP ${status}, ${answer.headers['content-type'] ?? 'no type'}); see --url and --base`);
  if (status >= 400) throw refusal(status, body);
  return body;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // Whatever it is, the daemon did not send it.
    return undefined;
  }
}

function refusal(status: number, body: unknown): DepotError {
  const text = textIn(body, 'stderr') || textIn(body, 'msg') || `the daemon answers HTTP ${status}`;
  if (status === 503) return new DepotError('unavailable', text);
  return new DepotError('command_failed', status === 403 ? `${text}; depotctl works where the daemon asks for no log-in (main.auth none)` : text);
}

/** A text field of an answer; empty where there is none. */
export function textIn(body: unknown, name: string): string {
  const value: unknown = typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : undefined;
  return typeof value === 'string' ? value : '';
}

export function tokenIn(body: unknown): string {
  return textIn(body, 'token');
}

const REASONS: Record<string, string> = {
  ECONNREFUSED: 'nobody listens there; is depotd running?',
  ENOENT: 'there is no such socket; is depotd running?',
  EACCES: 'this user may not use the socket',
  ENOTFOUND: 'the host name is not known',
  ECONNRESET: 'the connection was broken',
};

function unreachable(target: Target, error: unknown): DepotError {
  const reason = REASONS[systemCode(error) ?? ''] ?? reasonOf(error);
  return new DepotError('upstream_unreachable', `cannot reach the daemon at ${target.url}: ${reason}`, { cause: error });
}
