import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { allBytes, bounded } from '../../../device/byte-reader.ts';
import { DepotError, reasonOf } from '../../../errors.ts';
import { clockHint } from '../clock.ts';
import type { Credentials } from './ddi-credentials.ts';

export interface Call {
  method: 'GET' | 'POST' | 'PUT';
  /** Path of a request from the root, with its query. */
  path: string;
  /** Sent as JSON. */
  body?: object;
  headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  status: number;
  etag: string | undefined;
  body: Buffer;
}

export type Connection = ReturnType<typeof createConnection>;

const ANSWER_MS = 60_000;
/** Longest pause between two pieces of a download. */
const IDLE_MS = 60_000;
/** Most connections to the server: one download beside the questions. */
const MOST_SOCKETS = 2;

/**
 * Requests to one server for as long as one exchange lasts. Invariants:
 *  - every request goes to the origin that is configured, and so does the token: no redirect is
 *    followed, and nothing that the server says is taken as a host;
 *  - an answer is no larger than its limit, and comes within its time.
 * @param answerMs from the request to the end of an answer, and of a download to its head
 */
export function createConnection(
  server: string,
  { authorization, tls }: Credentials,
  answerMs = ANSWER_MS,
) {
  const url = new URL(server);
  const isTls = url.protocol === 'https:';
  const shared = { keepAlive: true, maxSockets: MOST_SOCKETS };
  const agent = isTls ? new HttpsAgent({ ...shared, ...tls }) : new HttpAgent(shared);

  const send = (call: Call, signal: AbortSignal): Promise<IncomingMessage> => {
    const body = call.body === undefined ? undefined : Buffer.from(JSON.stringify(call.body));
    return new Promise((resolve, reject) => {
      const request = (isTls ? httpsRequest : httpRequest)({
        agent,
        signal,
        hostname: url.hostname.replace(/^\[|\]$/g, ''),
        port: url.port,
        method: call.method,
        path: call.path,
        maxHeaderSize: 16_384,
        headers: {
          accept: 'application/json',
          ...(authorization === undefined ? {} : { authorization }),
          ...(body && { 'content-type': 'application/json', 'content-length': body.length }),
          ...call.headers,
        },
      });
      request.on('response', resolve);
      request.on('error', reject);
      request.end(body);
    });
  };

  /** Has the work end within the time of an answer. */
  const answered = async <Value>(
    call: Call,
    work: (limit: AbortSignal) => Promise<Value>,
  ): Promise<Value> => {
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), answerMs);
    try {
      return await work(controller.signal);
    } catch (error) {
      throw asFailure(call, error, controller.signal.aborted ? answerMs : undefined);
    } finally {
      clearTimeout(timer);
    }
  };

  return {
    /** @throws DepotError upstream_unreachable, upstream_timeout, too_large */
    ask: (call: Call, mostBytes: number): Promise<Answer> =>
      answered(call, async (limit) => {
        const response = await send(call, limit);
        const body = await readBody(response, mostBytes);
        return { status: response.statusCode ?? 0, etag: response.headers.etag, body };
      }),
    /** A file from that byte on, which the caller reads. @throws DepotError as above */
    open: (path: string, from: number, signal: AbortSignal): Promise<IncomingMessage> => {
      const range: Record<string, string> = from === 0 ? {} : { range: `bytes=${from}-` };
      const call: Call = { method: 'GET', path, headers: { ...range, accept: '*/*' } };
      return answered(call, async (limit) => {
        const response = await send(call, AbortSignal.any([signal, limit]));
        response.setTimeout(IDLE_MS, () =>
          response.destroy(new Error(`nothing came for ${IDLE_MS / 1000} s`)),
        );
        return response;
      });
    },
    close: (): void => agent.destroy(),
  };
}

async function readBody(response: IncomingMessage, mostBytes: number): Promise<Buffer> {
  const tooLarge = () => new DepotError('too_large', `it has more than ${mostBytes} bytes`);
  // The response is destroyed if that ends ahead of it.
  return allBytes(bounded<Buffer>(response, mostBytes, tooLarge));
}

function asFailure({ method, path }: Call, error: unknown, limitMs: number | undefined) {
  const what = `cannot ${method} ${path.split('?')[0] ?? ''}`;
  if (limitMs !== undefined) {
    const message = `${what}: the fleet server did not answer within ${limitMs / 1000} s`;
    return new DepotError('upstream_timeout', message, { cause: error });
  }
  const code = error instanceof DepotError ? error.code : 'upstream_unreachable';
  return new DepotError(code, `${what}: ${reasonOf(error)}${clockHint(error)}`, { cause: error });
}
