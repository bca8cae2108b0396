import type { IncomingMessage } from 'node:http';
import { DepotError, type ErrorCode } from '../errors.ts';
import { parseJson, textIn } from './answer-fields.ts';
import {
  chunksOf,
  send,
  type Call,
  type LoginSession,
  type Parameters,
  type StreamedBody,
} from './http-call.ts';
import { parseEvents, type ServerEvent } from './server-events.ts';
import type { Target } from './daemon-target.ts';

export type Client = ReturnType<typeof createClient>;

/**
 * The daemon's interface. Every failure is a DepotError: `upstream_unreachable` if nobody
 * answers, or somebody who is not the daemon; `unavailable` while it stops, or if a server in
 * front of it has no room; `forbidden` if a log-in is needed; `command_failed` for everything
 * else that it refuses, in its own words.
 * @param session undefined if nobody is logged in
 */
export function createClient(target: Target, session?: LoginSession) {
  const call = (
    method: Call['method'],
    path: string,
    more: Pick<Call, 'parameters' | 'body'> = {},
  ): Promise<IncomingMessage> => send({ target, method, path, session, ...more });
  const get = async (path: string, parameters: Parameters = {}): Promise<unknown> =>
    readJson(target, await call('GET', path, { parameters }));
  const open = async (path: string, parameters: Parameters): Promise<IncomingMessage> => {
    const answer = await call('GET', path, { parameters });
    if ((answer.statusCode ?? 0) >= 400) await readJson(target, answer);
    return answer;
  };
  return {
    get,
    /** Fetches the token that a change needs, and sends it along. */
    post: async (path: string, parameters: Parameters): Promise<unknown> => {
      const token = textIn(await get('admin/store/token'), 'token');
      return readJson(target, await call('POST', path, { parameters: { ...parameters, token } }));
    },
    /** Sets depotd's own password. @returns the file whose content a first one needs as `proof` */
    setPassword: async (form: Readonly<Record<string, string>>): Promise<string | undefined> => {
      try {
        await readJson(target, await call('POST', 'admin/passwd', { parameters: form }));
        return undefined;
      } catch (error) {
        const file = error instanceof Refusal ? textIn(error.body, 'proof_file') : '';
        if (file === '') throw error;
        return file;
      }
    },
    upload: async (path: string, body: StreamedBody): Promise<unknown> =>
      readJson(target, await call('POST', path, { body })),
    /** The body as it comes. */
    read: async function* (path: string, parameters: Parameters): AsyncGenerator<Buffer, void> {
      yield* chunksOf(target, await open(path, parameters));
    },
    events: async function* (
      path: string,
      parameters: Parameters,
    ): AsyncGenerator<ServerEvent, void> {
      yield* parseEvents(chunksOf(target, await open(path, parameters)));
    },
    logIn: async (parameters: { username?: string; password: string }): Promise<LoginSession> => {
      const answer = await call('POST', 'admin/login', { parameters });
      await readJson(target, answer);
      const [cookie] = answer.headers['set-cookie']?.[0]?.split(';') ?? [];
      if (cookie === undefined) {
        throw new DepotError('command_failed', 'cannot log in: the daemon gave no session');
      }
      return { cookie, key: answer.headers['x-depotd-key']?.toString() };
    },
    /** Who logs people in; undefined: nobody does, or the daemon does not say. */
    loginMethod: async (): Promise<'panel' | 'password' | undefined> => {
      const answer = await call('HEAD', 'admin/login');
      answer.resume();
      const method = answer.headers['x-depotd-auth'];
      return method === 'panel' || method === 'password' ? method : undefined;
    },
  };
}

async function readJson(target: Target, answer: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of chunksOf(target, answer)) chunks.push(chunk);
  const { statusCode: status = 0, headers } = answer;
  if (status === 204) return undefined;
  const body = parseJson(Buffer.concat(chunks).toString('utf8'));
  if (body === undefined) {
    throw new DepotError(
      'upstream_unreachable',
      `cannot use the answer of ${target.url}${target.prefix}: it is not depotd's (HTTP ` +
        `${status}, ${headers['content-type'] ?? 'no type'}); see --url and --base`,
    );
  }
  if (status < 400) return body;
  const text = textIn(body, 'stderr') || textIn(body, 'msg') || `the daemon answers HTTP ${status}`;
  throw new Refusal(codeOf(answer), text, body);
}

/** What the daemon says no with. */
class Refusal extends DepotError {
  readonly body: unknown;

  constructor(code: ErrorCode, message: string, body: unknown) {
    const explanation = { code: textIn(body, 'error_code'), remedy: textIn(body, 'remedy') };
    super(code, message, explanation.remedy === '' ? {} : { explanation });
    this.body = body;
  }
}

function codeOf(answer: IncomingMessage): 'unavailable' | 'forbidden' | 'command_failed' {
  if (answer.statusCode === 503) return 'unavailable';
  const isLogInNeeded = answer.headers['x-luci-login-required'] === 'yes';
  return answer.statusCode === 403 && isLogInNeeded ? 'forbidden' : 'command_failed';
}
