import { request as requestPlain, type IncomingMessage } from 'node:http';
import { request as requestTls } from 'node:https';
import type { Readable } from 'node:stream';
import { DepotError, reasonOf, systemCode } from '../errors.ts';
import type { Target } from './daemon-target.ts';

/** A list stands for the same parameter several times. */
export type Parameters = Readonly<Record<string, string | readonly string[]>>;

/** Who is logged in. */
export interface LoginSession {
  /** The session as the header Cookie has it. */
  cookie: string;
  /** The second half of the session; LuCI's own has none. */
  key?: string | undefined;
}

export interface Call {
  target: Target;
  method: 'GET' | 'HEAD' | 'POST';
  path: string;
  /** Parameters are in the query of a read, the body of a change: no server logs passwords. */
  parameters?: Parameters;
  session?: LoginSession | undefined;
  /** A streamed body in the place of parameters. */
  body?: StreamedBody;
}

/** The body of a request, which is sent piece by piece. */
export interface StreamedBody {
  type: string;
  sizeBytes: number;
  content: Readable;
}

/** Longest wait for an answer, and within a stream, where a sign of life comes every 15 s. */
const SILENCE_MS = 45_000;

/**
 * One request on a connection of its own. @returns the answer, whatever its status
 * @throws DepotError upstream_unreachable; and what the streamed body's source throws
 */
export function send(asked: Call): Promise<IncomingMessage> {
  const { target, method, path, parameters = {}, session, body } = asked;
  const pairs = Object.entries(parameters).flatMap(([name, value]) =>
    [value].flat().map((one): [string, string] => [name, one]),
  );
  const form = new URLSearchParams(pairs).toString();
  const query = method === 'POST' || form === '' ? '' : `?${form}`;
  const sizeBytes = body?.sizeBytes ?? Buffer.byteLength(form);
  const type = body?.type ?? 'application/x-www-form-urlencoded';
  const headers = {
    ...(method === 'POST' && { 'content-type': type, 'content-length': sizeBytes }),
    ...sessionFields(session),
    ...(body !== undefined && { connection: 'keep-alive' }),
  };
  const request = target.isTls ? requestTls : requestPlain;
  return new Promise((resolve, reject) => {
    const call = request({
      ...target.connection,
      method,
      path: `${target.prefix}/${path}${query}`,
      headers,
      agent: false,
      timeout: SILENCE_MS,
    });
    call.on('response', resolve);
    call.on('timeout', () => call.destroy(new Error(`no sign of life for ${SILENCE_MS / 1000} s`)));
    call.on('error', (error) => reject(unreachable(target, error)));
    if (body === undefined) {
      call.end(method === 'POST' ? form : undefined);
      return;
    }
    body.content.on('error', (error) => {
      reject(error);
      call.destroy();
    });
    // Who answers before the end wants no more of it.
    call.on('response', () => body.content.destroy());
    body.content.pipe(call);
  });
}

function sessionFields(session: LoginSession | undefined): Record<string, string> {
  if (session === undefined) return {};
  const { cookie, key } = session;
  return { cookie, ...(key !== undefined && { 'x-depotd-key': key }) };
}

export async function* chunksOf(
  target: Target,
  answer: IncomingMessage,
): AsyncGenerator<Buffer, void> {
  try {
    for await (const chunk of answer) yield chunk as Buffer;
  } catch (error) {
    throw unreachable(target, error);
  }
}

const REASONS: Record<string, string> = {
  ECONNREFUSED: 'nobody listens there; is depotd running?',
  ENOENT: 'there is no such socket; is depotd running?',
  EACCES: 'this user may not use the socket',
  ENOTFOUND: 'the host name is not known',
  ECONNRESET: 'the connection was broken',
  DEPTH_ZERO_SELF_SIGNED_CERT:
    'its certificate is its own work; the variable NODE_EXTRA_CA_CERTS may name a file with it',
};

function unreachable(target: Target, error: unknown): DepotError {
  const reason = REASONS[systemCode(error) ?? ''] ?? reasonOf(error);
  const message = `cannot reach the daemon at ${target.url}: ${reason}`;
  return new DepotError('upstream_unreachable', message, { cause: error });
}
