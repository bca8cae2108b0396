import * as fc from 'fast-check';
import { createServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';

import { evilLine, evilValue } from './texts.ts';

/** What a server sends in place of an answer. */
export interface HostileAnswer {
  head: string;
  body: string;
  /** How often the body is sent. */
  times: number;
  end: 'close' | 'hold' | 'reset';
}

/** Where nothing is to be asked for. */
export const THIEF = 'http://127.0.0.1:9/thief';

const MIB = 1024 ** 2;
/** An endless body ends after so much: who reads it all is not bounded. */
const ENDLESS = 24 * MIB;

const statuses = fc.oneof(
  { arbitrary: fc.constant('HTTP/1.1 200 OK'), weight: 6 },
  fc.constantFrom(
    ...['HTTP/1.1 302 Found', 'HTTP/1.1 304 Not Modified', 'HTTP/1.1 204 No Content'],
    ...['HTTP/1.1 100 Continue', 'HTTP/1.1 101 Switching Protocols', 'HTTP/1.1 999 x'],
    ...['HTTP/1.1 401 \x1b]52;c;eA==\x07', 'HTTP/1.1 500 \x9b2J', 'HTTP/1.0 200 OK', 'HTTP/9 200'],
    ...['HTTP/1.1 429 Slow', 'HTTP/1.1 410 Gone', 'nonsense', '', '\0\x01\x02', 'HTTP/1.1 2e2 OK'],
  ),
);

const name = fc.constantFrom(
  ...['Set-Cookie', 'WWW-Authenticate', 'Refresh', 'Location', 'Link', 'ETag', 'Retry-After'],
  ...['X-LuCI-Login-Required', 'X-Accel-Redirect', 'Clear-Site-Data', 'Content-Encoding'],
  ...['Transfer-Encoding', 'Content-Length', 'Connection', 'Keep-Alive', 'Trailer', 'X-A', 'A b'],
  ...['Speculation-Rules', 'Report-To', 'NEL', 'Alt-Svc', 'Strict-Transport-Security', 'SourceMap'],
  ...['Access-Control-Allow-Origin', 'Service-Worker-Allowed', 'Origin-Trial', 'Accept-CH'],
  ...[
    'Proxy-Authenticate',
    'X-Depotd-Key',
    'X-Sendfile',
    'X-Forwarded-Host',
    'Reporting-Endpoints',
  ],
  ...['Content-Type', 'Content-Range', 'Upgrade', 'Date', 'Age', 'Cache-Control', 'X-Total-Count'],
);
/** Most are well-formed, else no answer would come to be passed on. */
const value = fc.oneof(
  evilLine,
  { arbitrary: fc.constantFrom('a=b; Path=/', 'yes', '0; url=//x', 'a', '"*"'), weight: 6 },
  fc.constantFrom(
    ...[THIEF, '//127.0.0.1:9/thief', `<${THIEF}>; rel="next"`, `<${'x'.repeat(3000)}>;`.repeat(5)],
    ...['chunked', 'gzip', 'identity, chunked', 'close', '-1', '0', '5', '99999999999999999999'],
    ...['text/html', 'application/json', 'image/svg+xml', `a=${'x'.repeat(4000)}`],
    ...['max-age=99999999999', 'depotd_session=x; Path=/', '\u00ff'],
  ),
);
const line = fc.record({
  name,
  value,
  count: fc.oneof({ arbitrary: fc.constant(1), weight: 8 }, fc.constantFrom(8, 200, 5000)),
});

const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const framings = fc.constantFrom(
  ...['', '', CHUNKED, CHUNKED, 'Content-Length: 2\r\n', 'Content-Length: 900000000000\r\n'],
  `${CHUNKED}Content-Length: 3\r\n`,
);
const bodies = fc.oneof(
  fc.tuple(evilValue, fc.constantFrom(1, 1, 100)).map(([json, times]) => ({
    body: JSON.stringify(json),
    times,
  })),
  fc.constantFrom(
    { body: ' '.repeat(64 * 1024), times: ENDLESS / (64 * 1024) },
    { body: `10000\r\n${' '.repeat(65_536)}\r\n`, times: ENDLESS / 65_536 },
    { body: '1\r\n \r\n', times: 300_000 },
    { body: '0;x', times: 300_000 },
    { body: `1;${'x'.repeat(9000)}\r\n \r\n`, times: 500 },
    { body: '0\r\n', times: 1 },
    { body: `0\r\n${'T: x\r\n'.repeat(20_000)}`, times: 1 },
    { body: 'ffffffffffffffff\r\n ', times: 1 },
    { body: '-5\r\nhello\r\n0\r\n\r\n', times: 1 },
    { body: '[', times: 100_000 },
    { body: '{"a":', times: 100_000 },
    { body: `["${'\u202e'.repeat(1000)}"]`, times: 1 },
    { body: gzipSync(Buffer.alloc(ENDLESS)).toString('latin1'), times: 1 },
    { body: 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}', times: 1000 },
    { body: '', times: 1 },
  ),
);

const wild: fc.Arbitrary<HostileAnswer> = fc
  .record({
    status: statuses,
    lines: fc.array(line, { maxLength: 4 }),
    framing: framings,
    blank: fc.constantFrom('\r\n', '\r\n', '\r\n', '\n', ''),
    body: bodies,
    end: fc.constantFrom('close', 'close', 'hold', 'reset'),
  })
  .map(({ status, lines, framing, blank, body, end }) => ({
    head: `${status}\r\n${lines.map(repeated).join('')}${framing}${blank}`,
    ...body,
    end,
  }));

/** Headers of a browser's and a proxy's, on an answer that is well-formed else. */
const wellFormed: fc.Arbitrary<HostileAnswer> = fc
  .array(fc.tuple(name, fc.constantFrom('a=b; Path=/', 'yes', '0; url=//x', THIEF)), {
    minLength: 1,
    maxLength: 6,
  })
  .map((drawn) => {
    const lines = drawn
      .filter(([field]) => !/^(?:Transfer-Encoding|Content-Length|A b)$/.test(field))
      .map(([field, text]) => `${field}: ${text}\r\n`);
    const head = `HTTP/1.1 200 OK\r\n${lines.join('')}Content-Length: 2\r\n\r\n`;
    return { head, body: '{}', times: 1, end: 'close' };
  });

export const hostileAnswers: fc.Arbitrary<HostileAnswer> = fc.oneof(
  { arbitrary: wild, weight: 3 },
  wellFormed,
);

function repeated({
  name: field,
  value: text,
  count,
}: {
  name: string;
  value: string;
  count: number;
}) {
  return `${field}: ${text}\r\n`.repeat(count);
}

/** Answers each request by what it is given, whatever is asked. */
export interface HostileServer {
  readonly url: string;
  /** Asked for each request, with its path. */
  answer: (path: string) => HostileAnswer;
  /** Lets go of those that are held. */
  release: () => void;
  close: () => void;
}

export async function startHostileServer(): Promise<HostileServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket
      .on('error', () => undefined)
      .on('close', () => sockets.delete(socket))
      .on('data', (bytes) => {
        const [, path] = /^[A-Z]+ (\S+) HTTP/.exec(bytes.toString('latin1')) ?? [];
        if (path !== undefined) void send(socket, hostile.answer(path));
      });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const release = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const hostile: HostileServer = {
    url: `http://127.0.0.1:${port}`,
    answer: () => ({ head: 'HTTP/1.1 200 OK\r\n\r\n', body: '{}', times: 1, end: 'close' }),
    release,
    close: () => {
      release();
      server.close();
    },
  };
  return hostile;
}

async function send(socket: Socket, { head, body, times, end }: HostileAnswer): Promise<void> {
  socket.write(head, 'latin1');
  const batch = Math.max(1, Math.floor(65_536 / Math.max(1, body.length)));
  for (let sent = 0; sent < times && !socket.destroyed; sent += batch) {
    const isRoom = socket.write(body.repeat(Math.min(batch, times - sent)), 'utf8');
    if (!isRoom) await drained(socket);
  }
  if (end === 'close') socket.end();
  else if (end === 'reset') socket.resetAndDestroy();
}

function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.once('drain', resolve).once('close', () => resolve());
  });
}
