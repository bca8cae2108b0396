// Serves and asks for one answer of each sort, and prints them with whether Node's HTTP client was
// loaded for it.
import { createServer, request, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGunzip } from 'node:zlib';
import { pino } from 'pino';
import * as v from 'valibot';

import { createApp } from '../../src/http/app.ts';
import { eventStream, type StreamEvent } from '../../src/http/event-stream.ts';
import { deferFetchClasses } from '../../src/runtime/light-fetch.ts';
import { json } from '../../src/http/respond.ts';
import { openGet, openPost } from '../../src/http/route.ts';
import { createOpenSessions } from '../../src/http/session/sessions.ts';

deferFetchClasses();
const { getRequestListener } = await import('@hono/node-server');

async function* tick(): AsyncGenerator<StreamEvent, void> {
  yield await Promise.resolve({ event: 'tick', data: 1 });
}

/** More than fits one packet: sent packed. */
const LONG = 'b'.repeat(2000);
const params = { a: v.string() };
const routes = [
  openGet({ path: '/json', summary: '', params, handle: (call) => json(call.params) }),
  openPost({
    path: '/form',
    summary: '',
    params,
    handle: (call) => withCookies(json(call.params)),
  }),
  openGet({
    path: '/stream',
    summary: '',
    params: {},
    handle: () => eventStream(tick, { signals: [], watchSession: () => () => undefined }),
  }),
];
const app = createApp({
  base: '',
  routes,
  hosts: { listening: new Set(['127.0.0.1']), configured: [], isOwn: () => false },
  sessions: createOpenSessions(),
  owner: { sessions: createOpenSessions(), isAt: () => false },
  stopping: new AbortController().signal,
  log: pino({ level: 'silent' }),
});
const server = createServer(getRequestListener(app.fetch) as RequestListener);
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

const answers = {
  json: await ask(['GET', '/json?a=b'], 'content-type'),
  packed: await ask(['GET', `/json?a=${LONG}`], 'content-encoding'),
  head: await ask(['HEAD', '/json?a=b'], 'content-type'),
  form: await ask(['POST', '/form'], 'set-cookie', 'a=c'),
  stream: await ask(['GET', '/stream'], 'content-type'),
  absent: await ask(['GET', '/absent'], 'content-type'),
  loaded: isLoaded(),
};
// Whoever needs one of Node's own gets it.
const made = await new Response('now').text();
process.stdout.write(JSON.stringify({ ...answers, made, thenLoaded: isLoaded() }));
server.close();
server.closeAllConnections();

function withCookies(answer: Response): Response {
  answer.headers.append('set-cookie', 'x=1');
  answer.headers.append('set-cookie', 'y=2');
  return answer;
}

function isLoaded(): boolean {
  return (process as unknown as { moduleLoadList: string[] }).moduleLoadList.includes(
    'NativeModule internal/deps/undici/undici',
  );
}

function ask(
  [method, path]: [string, string],
  header: string,
  form?: string,
): Promise<[number | undefined, string | undefined, string]> {
  return new Promise((resolve, reject) => {
    const headers = {
      'accept-encoding': 'gzip',
      ...(form !== undefined && {
        'content-type': 'application/x-www-form-urlencoded',
        'content-length': form.length,
      }),
    };
    const asked = request(
      { host: '127.0.0.1', port: (server.address() as AddressInfo).port, method, path, headers },
      (response) => {
        const isPacked = response.headers['content-encoding'] === 'gzip';
        let body = '';
        (isPacked ? response.pipe(createGunzip()) : response)
          .setEncoding('utf8')
          .on('data', (piece: string) => (body += piece))
          .on('end', () =>
            resolve([response.statusCode, [response.headers[header] ?? []].flat().join(), body]),
          );
      },
    );
    asked.on('error', reject).end(form);
  });
}
