import {
  createServer,
  request,
  type ClientRequest,
  type IncomingMessage,
  type Server,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { DepotError } from '../../src/errors.ts';
import { receiveFile } from '../../src/http/multipart.ts';

/** Long enough that a busy machine keeps to half of it. */
const IDLE_MS = 2000;
let server: Server;
let outcome: Promise<{ received: string } | { refused: number; why: string }>;
let dropped: string[];

beforeEach(async () => {
  dropped = [];
  outcome = new Promise((resolve) => {
    server = createServer((incoming, response) => {
      receive(incoming)
        .then(
          (received) => resolve({ received }),
          (error: unknown) =>
            resolve(
              error instanceof DepotError
                ? { refused: error.status, why: error.message }
                : { refused: 500, why: String(error) },
            ),
        )
        .finally(() => response.end());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const HEAD = '--b\r\nContent-Disposition: form-data; name="f"; filename="a.run"\r\n\r\n';

test('a file in pieces is received as one', async () => {
  const sending = open();
  for (const piece of [HEAD, 'one', 'two', '\r\n--b--\r\n']) sending.write(piece);
  sending.end();
  expect(await outcome).toEqual({ received: 'a.run: onetwo' });
});

test.each<[string, string | undefined, string[], number, RegExp]>([
  ['another type', 'application/json', ['{}'], 415, /multipart/],
  ['no type', undefined, ['x'], 415, /multipart/],
  ['no boundary', 'multipart/form-data', ['x'], 400, /boundary/i],
  ['no end', undefined, [HEAD, 'one'], 400, /end of form/i],
  [
    'no file',
    undefined,
    ['--b\r\nContent-Disposition: form-data; name="f"\r\n\r\nx\r\n--b--\r\n'],
    400,
    /no file/,
  ],
  ['two files', undefined, [HEAD, 'one\r\n', HEAD, 'two\r\n--b--\r\n'], 400, /more than one/],
  [
    'a hundred fields',
    undefined,
    [
      ...Array.from(
        { length: 100 },
        () => '--b\r\nContent-Disposition: form-data; name="f"\r\n\r\nx\r\n',
      ),
      '--b--\r\n',
    ],
    400,
    /too many/,
  ],
  ['garbage before the end', undefined, [HEAD, 'one\r\n--b\r\ngarbage'], 400, /./],
])(
  'a body with %s is refused, and what was taken is dropped',
  async (...[name, type, pieces, status, why]) => {
    const sending = open(name === 'no type' ? 'none/none' : type);
    for (const piece of pieces) sending.write(piece);
    sending.end();
    const result = await outcome;
    expect(result).toMatchObject({ refused: status, why: expect.stringMatching(why) as string });
  },
);

test('a file that was whole is dropped where the rest of the form is bad', async () => {
  const sending = open();
  sending.end(`${HEAD}one\r\n${HEAD}two\r\n--b--\r\n`);
  expect(await outcome).toMatchObject({ refused: 400 });
  expect(dropped).toEqual(['a.run: one']);
});

test('a sender that falls silent is given up', async () => {
  const sending = open();
  sending.write(`${HEAD}one`);
  expect(await outcome).toMatchObject({
    refused: 400,
    why: expect.stringContaining('nothing came for 2 s') as string,
  });
  sending.destroy();
});

test('a sender that is slow but not silent is not', async () => {
  const sending = open();
  sending.write(HEAD);
  for (let count = 0; count < 3; count += 1) {
    await new Promise((resolve) => setTimeout(resolve, IDLE_MS / 2));
    sending.write('x');
  }
  sending.end('\r\n--b--\r\n');
  expect(await outcome).toEqual({ received: 'a.run: xxx' });
});

test('a sender that goes away is noticed at once', async () => {
  const sending = open();
  sending.write(`${HEAD}one`, () => sending.destroy());
  expect(await outcome).toMatchObject({
    refused: 400,
    why: expect.stringMatching(/went away|nothing came/) as string,
  });
});

function open(type = 'multipart/form-data; boundary=b'): ClientRequest {
  const { port } = server.address() as AddressInfo;
  const sending = request({
    port,
    host: '127.0.0.1',
    method: 'POST',
    headers: type === 'none/none' ? {} : { 'content-type': type },
  });
  // The server closes on a sender that it has refused.
  sending.on('error', () => undefined);
  return sending;
}

function receive(incoming: IncomingMessage): Promise<string> {
  return receiveFile(incoming, {
    idleMs: IDLE_MS,
    receive: async ({ name, content }) => {
      let text = '';
      for await (const piece of content) text += Buffer.from(piece).toString();
      return `${name ?? ''}: ${text}`;
    },
    discard: (received) => {
      dropped.push(received);
      return Promise.resolve();
    },
  });
}
