import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';

import { createIdentity } from '../../support/self-signed.ts';
import { ipk, moduleOf, type FleetDevice } from './fleet-device.ts';
import { openFleetDevice, shareFleetDevice } from './shared-device.ts';
import { ofDownloads, type StandIn } from './stand-in.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** Another host that has the files of actions by their SHA-256. */
let server: StandIn;
let mirror: Server;
let mirrorUrl: string;
let on: FleetDevice;
let answer: RequestListener;
let asked: string[];
let leaked: unknown[];
/** Another one each time: what has come once is not fetched again. */
let sent: ReturnType<typeof ipk>;

beforeAll(async () => {
  mirror = createServer((request, response) => {
    asked.push(`${request.method ?? ''} ${request.url ?? ''}`);
    leaked.push(request.headers.authorization);
    answer(request, response);
  });
  await new Promise<void>((resolve) => mirror.listen(0, '127.0.0.1', resolve));
  mirrorUrl = `http://127.0.0.1:${(mirror.address() as AddressInfo).port}/files`;
});
afterAll(async () => {
  mirror.closeAllConnections();
  await new Promise((resolve) => mirror.close(resolve));
});
shareFleetDevice(
  () => Promise.resolve({ set: [`fleet.mirrors=${mirrorUrl}`] }),
  (...shared) => ([server, on] = shared),
);
beforeEach(() => {
  sent = ipk('large', {
    files: { '/usr/share/large': randomBytes(100_000).toString('latin1') },
  });
  [asked, leaked] = [[], []];
  answer = (_, response) => response.end(sent.bytes);
});

/** With a device of its own. */
const begin = async (...set: string[]): Promise<void> => {
  [server, on] = await openFleetDevice(...set);
};
const rollOut = (): Promise<string> => on.rollOut(moduleOf(sent));
/** Files that a mirror did not bring. */
const failures = async (): Promise<number> => {
  const metrics = await (await on.daemon.get('/metrics')).text();
  return Number(/^depotd_fleet_mirror_failures_total (\d+)$/m.exec(metrics)?.[1]);
};
const fromOrigin = (): string[] => server.requests.filter((line) => line.includes('/artifacts/'));

test('a file comes from the mirror by its SHA-256, which is not sent the token', async () => {
  expect(await endOf(await rollOut())).toBe('finished');

  const hash = createHash('sha256').update(sent.bytes).digest('hex');
  expect(asked).toEqual([`GET /files/${hash}`]);
  expect(leaked).toEqual([undefined]);
  expect(fromOrigin()).toEqual([]);
});

const LIES: [string, RequestListener][] = [
  ['does not have it', (_, response) => response.writeHead(404).end()],
  ['leads elsewhere', (_, response) => response.writeHead(302, { location: '/' }).end()],
  ['sends other bytes', (_, response) => response.end(Buffer.alloc(sent.bytes.length))],
  ['sends more', (_, response) => response.end(Buffer.alloc(sent.bytes.length + 1))],
  [
    'cuts the line after other bytes',
    (_, response) => {
      response.writeHead(200, { 'content-length': sent.bytes.length });
      response.write(Buffer.alloc(70_000), () => setTimeout(() => response.destroy(), 300));
    },
  ],
];

test.each(LIES)('a mirror that %s is asked once, and the server has the file', async (_, lie) => {
  answer = lie;
  const before = await failures();

  expect(await endOf(await rollOut())).toBe('finished');

  expect(asked).toHaveLength(1);
  expect(fromOrigin().length).toBeLessThanOrEqual(2);
  expect(await failures()).toBe(before + 1);
});

test('a mirror that fails with the server is asked no more often than the server', async () => {
  answer = (_, response) => response.writeHead(503).end();
  server.intercept = ofDownloads((_, response) => {
    response.writeHead(503).end();
  });
  const action = await rollOut();
  await on.poll();
  await expect.poll(() => fromOrigin().length, { timeout: 10_000 }).toBe(1);
  await new Promise((resolve) => setTimeout(resolve, 3000));

  expect([asked.length, fromOrigin().length]).toEqual([1, 1]);
  answer = (_, response) => response.end(sent.bytes);
  expect(await endOf(action)).toBe('finished');
});

test.each([
  ['of the owner’s authority has it', true],
  ['of an authority that nobody knows is sent nothing', false],
])('a mirror with a certificate %s', async (_, isKnown) => {
  const folder = await temporaryFolder();
  const { key, cert } = await createIdentity(folder, 'mirror');
  const own = { key: await readFile(key), cert: await readFile(cert) };
  const secure = createTlsServer(own, (request, response) => {
    asked.push(request.url ?? '');
    response.end(sent.bytes);
  });
  await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void secure.close());
  const { port } = secure.address() as AddressInfo;
  const authority = isKnown ? [`fleet.ca_file=${cert}`] : [];
  await begin(`fleet.mirrors=https://localhost:${port}`, ...authority);

  expect(await endOf(await rollOut())).toBe('finished');

  expect([asked.length, fromOrigin().length]).toEqual(isKnown ? [1, 0] : [0, 1]);
});

test('a download is no faster than its limit', async () => {
  await begin(`fleet.mirrors=${mirrorUrl}`, 'fleet.download_kib_s=32');
  const action = await rollOut();
  const startMs = performance.now();
  await on.poll();
  expect(await endOf(action)).toBe('finished');

  expect(performance.now() - startMs).toBeGreaterThan((sent.bytes.length / 1024 / 32) * 900);
});

async function endOf(action: string): Promise<string> {
  const { status, messages } = await on.over(action);
  return status === 'finished' ? status : messages.join('\n');
}
