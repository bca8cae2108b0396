import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';

import { fasterClock } from './faster-clock.ts';
import { ipk, moduleOf, type FleetDevice } from './fleet-device.ts';
import { shareFleetDevice } from './shared-device.ts';
import { ofDownloads, type StandIn } from './stand-in.ts';

/** The daemon's clock runs so many times as fast: its pauses of minutes are seconds here. */
const FASTER = 30;
const SECONDS = 120;

let server: StandIn;
let on: FleetDevice;
let count = 0;
/** Another one each time: what has come once is not fetched again. */
const large = (): ReturnType<typeof ipk> =>
  ipk('large', { files: { '/usr/share/large': `${(count += 1)}`.repeat(200_000) } });
const PIECE = Buffer.alloc(100, 'x');

shareFleetDevice({ nodeFlags: fasterClock(FASTER) }, (...shared) => ([server, on] = shared));

const cut = (response: ServerResponse): void => {
  response.writeHead(200);
  response.write(PIECE, () => response.destroy());
};
const WAYS: [string, (response: ServerResponse) => void][] = [
  ['404', (response) => response.writeHead(404).end()],
  ['500', (response) => response.writeHead(500).end('lost')],
  ['429', (response) => response.writeHead(429).end()],
  ['302', (response) => response.writeHead(302, { location: '/' }).end()],
  [
    'another range',
    (response) => response.writeHead(206, { 'content-range': 'bytes 7-8/9' }).end(),
  ],
  ['a short body', (response) => response.end(PIECE)],
  ['a line that is cut', cut],
  ['no answer at all', (response) => response.destroy()],
];

test.each(WAYS)('a download that fails by %s is tried again after a pause', async (_, fail) => {
  const before = server.requests.length;
  let tries = 0;
  server.intercept = ofDownloads((__, response) => {
    tries += 1;
    fail(response);
  });
  const action = await on.rollOut(moduleOf(large()));
  await on.poll();
  await expect.poll(() => tries, { timeout: 20_000 }).toBe(1);

  await delay((SECONDS / FASTER) * 1000);

  expect(server.requests.length - before).toBeLessThanOrEqual(SECONDS / 5 + 4);
  await expect.poll(() => tries).toBeGreaterThan(1);
  const { messages } = await server.action(on.id, action);
  const notice = messages.filter((text) => text.includes('it is tried again: cannot'));
  expect(notice).toHaveLength(1);
  server.intercept = undefined;
  expect(await on.over(action)).toMatchObject({ status: 'finished' });
});

test('a long download says each half minute at the server how much of it is here', async () => {
  server.intercept = ofDownloads((_, response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write(PIECE), 100);
    response.once('close', () => clearInterval(timer));
  });
  const files = { '/usr/share/slow': randomBytes(50_000).toString('hex') };
  const slow = moduleOf(ipk('slow', { files }));
  const action = await on.rollOut(slow);
  await on.poll();

  await delay((SECONDS / FASTER) * 1000);

  const { messages } = await server.action(on.id, action);
  const said = messages.filter((text) => text.includes(' are here'));
  expect(said.length).toBeGreaterThanOrEqual(SECONDS / 30 - 2);
  expect(said.length).toBeLessThanOrEqual(SECONDS / 30);
  expect(new Set(said).size).toBe(said.length);
  await server.cancel(on.id, action);
  await on.over(action);
});

test('a server that answers no poll while a file comes counts as one that does not answer', async () => {
  let isDown = false;
  server.intercept = (request, response) => {
    if (request.url?.includes('/artifacts/') !== true) {
      if (isDown) response.destroy();
      return isDown;
    }
    response.writeHead(200).write(PIECE);
    const timer = setInterval(() => response.write('x'), 100);
    response.once('close', () => clearInterval(timer));
    return true;
  };
  const slow = moduleOf(ipk('slow', { files: { '/usr/share/slow': '0'.repeat(90_000) } }));
  const action = await on.rollOut(slow);
  await on.poll();
  isDown = true;
  await on.poll();

  // Twice as long as from one notice of progress to the next.
  await delay((60 / FASTER) * 1000);

  await expect.poll(async () => (await on.status()).last_error).toContain('socket hang up');
  const events = on.daemon.log.filter((line) => line.includes('fleet server is back'));
  isDown = false;
  await server.cancel(on.id, action);
  await on.over(action);
  expect(events).toEqual([]);
});

test('a download that fails a hundred times ends its action, and the server is told why', async () => {
  server.intercept = ofDownloads((_, response) => {
    response.writeHead(404).end();
  });
  const action = await on.rollOut(moduleOf(ipk('gone', { files: { '/usr/share/gone': 'gone' } })));

  const { status, messages } = await on.over(action);

  expect(status).toBe('error');
  expect(messages).toContain('error_code download_failed');
  expect(messages.join('\n')).toContain('the fleet server answered 404');
});
