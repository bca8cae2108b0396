import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { createBodyReader } from '../../../src/features/forge/target-change.ts';
import { ask, startDevice, type Device } from './device.ts';
import { startUpstream, type Upstream } from './upstream.ts';

const WIKI = '/api/v1/repos/o/r/wiki';
const PULL = '/api/v1/repos/o/r/pulls/7';
const PAGE =
  '{"title":"Sub/Pägé","html_url":"http://h/x","sub_url":"Sub%2FP%C3%A4g%C3%A9","last_commit":{"message":"\\"title\\""},"content_base64":""}';

let upstream: Upstream;
let device: Device;
let status: number;

beforeAll(async () => {
  upstream = await startUpstream((response, { method, target }) => {
    if (method === 'GET') {
      response.end(
        target.endsWith('/7') ? '{"number":7,"base":{"label":"main","ref":"main"}}' : '[]',
      );
    } else response.writeHead(status).end(target.includes('wiki') && status < 204 ? PAGE : '');
  });
  device = await startDevice({ upstream: upstream.url });
});

beforeEach(() => {
  device.events.length = 0;
  upstream.asked.length = 0;
});

afterAll(async () => {
  await device.close();
  await upstream.close();
});

test.each([
  [
    'POST',
    `${WIKI}/new`,
    201,
    { event: 'wiki.page.created', owner: 'o', repo: 'r', page: 'Sub/Pägé', title: 'Sub/Pägé' },
  ],
  [
    'PATCH',
    `${WIKI}/page/Old`,
    200,
    { event: 'wiki.page.edited', owner: 'o', repo: 'r', page: 'Sub/Pägé', title: 'Sub/Pägé' },
  ],
  [
    'DELETE',
    `${WIKI}/page/a%2Fb`,
    204,
    { event: 'wiki.page.deleted', owner: 'o', repo: 'r', page: 'a/b' },
  ],
])('%s %s confirmed with %d publishes once', async (...[method, path, confirmed, event]) => {
  status = confirmed;
  await ask(device.port, path, { method, headers: { 'Content-Length': '2' }, body: '{}' });
  expect(device.events).toEqual([event]);
  expect(device.log.join()).toContain('forge_event');
});

test.each([400, 403, 404, 409, 423, 500])(
  'an operation that the forge answers with %d publishes nothing',
  async (refused) => {
    status = refused;
    await ask(device.port, `${WIKI}/new`, { method: 'POST', body: '{}' });
    await ask(device.port, `${WIKI}/page/x`, { method: 'DELETE' });
    await ask(device.port, PULL, { method: 'PATCH', body: '{"base":"other"}' });
    expect(device.events).toEqual([]);
  },
);

test.each([
  ['application/json', '{"base":"develop"}'],
  ['application/json', '{"title":"x","BASE":"develop"}'],
  ['application/x-www-form-urlencoded', 'title=x&base=develop'],
])(
  'a target branch that changes is published with the one before it: %s %s',
  async (type, body) => {
    status = 201;
    await ask(device.port, PULL, {
      method: 'PATCH',
      headers: { 'Content-Type': type, Authorization: 'token mine' },
      body,
    });
    expect(device.events).toEqual([
      {
        event: 'pull_request.target_branch.changed',
        owner: 'o',
        repo: 'r',
        index: 7,
        from: 'main',
        to: 'develop',
      },
    ]);
    expect(
      upstream.asked.map((one) => `${one.method} ${one.headers.authorization ?? ''} ${one.body}`),
    ).toEqual(['GET token mine ', `PATCH token mine ${body}`]);
  },
);

test.each(['{"base":"main"}', '{"title":"base"}', '{"base":""}', '[]', 'not JSON', '{"base":7}'])(
  'an edit that changes no target branch publishes nothing: %s',
  async (body) => {
    status = 201;
    await ask(device.port, PULL, { method: 'PATCH', body });
    expect(device.events).toEqual([]);
    expect(upstream.asked.at(-1)).toMatchObject({ method: 'PATCH', body });
  },
);

test('a longer body than is looked into passes whole', async () => {
  status = 201;
  const body = JSON.stringify({ body: 'x'.repeat(3_000_000), base: 'develop' });
  await ask(device.port, PULL, { method: 'PATCH', body });
  expect(upstream.asked).toHaveLength(1);
  expect(upstream.asked[0]?.body).toBe(body);
});

test('an edit whose body does not come is not waited for, and passes as far as it is there', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const request = new PassThrough();
  const read = createBodyReader()(request, new EventEmitter());
  request.write('{"base":');
  await vi.advanceTimersByTimeAsync(10_000);

  expect(await read).toEqual({ bytes: Buffer.from('{"base":'), isWhole: false });
  expect(request.isPaused()).toBe(true);
});

test('an edit whose caller has gone before it is looked into is not kept', async () => {
  const [request, response] = [new PassThrough(), new EventEmitter()];
  request.destroy();

  const read = createBodyReader()(request, response);

  expect(await read).toEqual({ bytes: Buffer.alloc(0), isWhole: false });
  // It would be kept until this is told, which was told before.
  expect(response.listenerCount('close')).toBe(0);
});
