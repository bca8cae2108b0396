import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface CuttingProxy {
  url: string;
  /** Event streams that were begun, and those that found no room. */
  count: { begun: number; refused: number };
  close: () => Promise<void>;
}

export interface CuttingOptions {
  /** How long an event stream may last. */
  streamMs: number;
  /** Event streams at a time. */
  mostStreams: number;
}

/**
 * A server in front of the daemon that treats event streams as a CGI relay does: each ends after a
 * while, and there is room for few of them, or none.
 */
export async function startCuttingProxy(
  daemonUrl: () => string,
  { streamMs, mostStreams }: CuttingOptions,
): Promise<CuttingProxy> {
  const count = { begun: 0, refused: 0 };
  let open = 0;
  const passStream = (answer: IncomingMessage, response: ServerResponse): void => {
    if (open >= mostStreams) {
      count.refused += 1;
      answer.destroy();
      refuse(response, 'cannot open one more event stream');
      return;
    }
    count.begun += 1;
    open += 1;
    const timer = setTimeout(() => {
      answer.unpipe(response);
      response.end();
    }, streamMs);
    response.on('close', () => {
      open -= 1;
      clearTimeout(timer);
      answer.destroy();
    });
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  };
  const server = createServer((incoming, response) => {
    const { hostname, port } = new URL(daemonUrl());
    const call = request({
      hostname,
      port,
      method: incoming.method,
      path: incoming.url,
      headers: incoming.headers,
      agent: false,
    });
    call.on('response', (answer) => {
      if (answer.headers['content-type']?.startsWith('text/event-stream') === true) {
        passStream(answer, response);
      } else answer.pipe(response.writeHead(answer.statusCode ?? 502, answer.headers));
    });
    call.on('error', () =>
      response.headersSent ? response.destroy() : refuse(response, 'cannot reach depotd'),
    );
    incoming.pipe(call);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    count,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function refuse(response: ServerResponse, msg: string): void {
  response
    .writeHead(503, { 'content-type': 'application/json', 'retry-after': '5' })
    .end(JSON.stringify({ code: 503, msg }));
}
