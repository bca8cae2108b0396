import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { ipk, moduleOf } from './fleet-device.ts';
import type { Assignment, FleetServer } from './fleet-server.ts';
import { SERVERS } from './hawkbit.ts';

interface Polled {
  config: { polling: { sleep: string } };
  _links?: Record<string, { href: string }>;
}

const packed = ipk('contract');
let server: FleetServer;
let target: string;
let token: string;
let count = 0;

function ask(
  path: string,
  init: RequestInit = {},
  auth = `TargetToken ${token}`,
): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set('authorization', auth);
  headers.set('content-type', 'application/json');
  return fetch(`${server.url}/DEFAULT/controller/v1/${target}${path}`, { ...init, headers });
}

async function send(path: string, body: object, method = 'POST'): Promise<number> {
  const answer = await ask(path, { method, body: JSON.stringify(body) });
  await answer.arrayBuffer();
  return answer.status;
}

async function poll(): Promise<Polled> {
  return (await (await ask('')).json()) as Polled;
}

async function offer(how?: Assignment): Promise<string> {
  return server.assign(await server.publish([moduleOf(packed)]), target, how);
}

function feedback(execution: string, finished = 'none', details: string[] = []): object {
  return { status: { execution, result: { finished }, details } };
}

function use(createServer: () => Promise<FleetServer>): void {
  beforeAll(async () => {
    server = await createServer();
  });
  afterAll(() => server.close());
  beforeEach(async () => {
    target = `contract-${Date.now().toString(36)}-${(count += 1)}`;
    token = await server.addTarget(target);
  });
}

describe.each(SERVERS)('what %s offers', (_, createServer) => {
  use(createServer);

  test('asks who polls', async () => {
    expect((await ask('', {}, '')).status).toBe(401);
    expect((await ask('', {}, 'TargetToken wrong')).status).toBe(401);
    expect((await ask('')).status).toBe(200);
  });

  test('says how often to poll, wants configData once, and answers 304 to its ETag', async () => {
    expect((await poll()).config.polling.sleep).toMatch(/^\d\d:\d\d:\d\d$/);
    expect(Object.keys((await poll())._links ?? {})).toEqual(['configData']);
    expect(await send('/configData', { mode: 'replace', data: { arch: 'x' } }, 'PUT')).toBe(200);
    expect((await poll())._links ?? {}).toEqual({});
    expect(await server.attributes(target)).toEqual({ arch: 'x' });
    const etag = (await ask('')).headers.get('etag') ?? '';
    expect((await ask('', { headers: { 'if-none-match': etag } })).status).toBe(304);
  });

  test('refuses a value of configData with more than 128 characters', async () => {
    const data = { long: 'x'.repeat(129) };
    expect(await send('/configData', { mode: 'replace', data }, 'PUT')).toBe(400);
  });

  test.each<[Assignment, object]>([
    [{ type: 'forced' }, { download: 'forced', update: 'forced' }],
    [{ type: 'soft' }, { download: 'attempt', update: 'attempt' }],
    [{ type: 'downloadonly' }, { download: 'forced', update: 'skip' }],
    [
      { window: 'closed' },
      { download: 'forced', update: 'skip', maintenanceWindow: 'unavailable' },
    ],
    [{ window: 'open' }, { download: 'forced', update: 'forced', maintenanceWindow: 'available' }],
  ])('offers an action that is %j', async (how, urgency) => {
    const id = await offer(how);
    const href = (await poll())._links?.deploymentBase?.href ?? '';
    expect(href).toContain(`/deploymentBase/${id}`);

    const answer = await ask(`/deploymentBase/${id}`);

    expect(await answer.json()).toMatchObject({
      id,
      deployment: {
        ...urgency,
        chunks: [
          {
            part: 'bApp',
            artifacts: [
              {
                filename: packed.fileName,
                size: packed.bytes.length,
                hashes: { sha256: packed.sha256 },
              },
            ],
          },
        ],
      },
    });
  });

  test('sends a file, and the rest of it', async () => {
    const id = await offer();
    const { deployment } = (await (await ask(`/deploymentBase/${id}`)).json()) as {
      deployment: { chunks: { artifacts: { _links: Record<string, { href: string }> }[] }[] };
    };
    const href = deployment.chunks[0]?.artifacts[0]?._links['download-http']?.href ?? '';
    const path = new URL(href).pathname.split(`/${target}`)[1] ?? '';
    const whole = Buffer.from(await (await ask(path)).arrayBuffer());
    expect(createHash('sha256').update(whole).digest('hex')).toBe(packed.sha256);

    const rest = await ask(path, { headers: { range: 'bytes=100-' } });

    expect(rest.status).toBe(206);
    expect(Buffer.from(await rest.arrayBuffer()).equals(whole.subarray(100))).toBe(true);
    const end = await ask(path, { headers: { range: `bytes=${whole.length}-` } });
    expect(end.status).toBe(416);
  });
});

describe.each(SERVERS)('what %s makes of feedback', (_, createServer) => {
  use(createServer);

  test.each<[string, string, 'finished' | 'error']>([
    ['success', 'closed', 'finished'],
    ['failure', 'closed', 'error'],
  ])(
    'ends an action that is closed with %s, and answers 410 then',
    async (finished, word, state) => {
      const id = await offer();
      const path = `/deploymentBase/${id}/feedback`;
      expect(await send(path, feedback('proceeding'))).toBe(200);
      expect(await send(path, feedback(word, finished, ['why']))).toBe(200);

      expect(await server.action(target, id)).toMatchObject({ status: state, isActive: false });
      expect((await server.action(target, id)).messages).toContain('why');
      expect(await send(path, feedback('proceeding'))).toBe(410);
      expect((await poll())._links).not.toHaveProperty('deploymentBase');
    },
  );

  test.each([
    ['rejected', 'none'],
    ['canceled', 'none'],
  ])('goes on offering an action that is %s', async (word, finished) => {
    const id = await offer();
    expect(await send(`/deploymentBase/${id}/feedback`, feedback(word, finished))).toBe(200);
    expect((await poll())._links).toHaveProperty('deploymentBase');
  });

  test('loses a feedback with a tag, takes other signs, and has a quota of 50 details', async () => {
    const path = `/deploymentBase/${await offer()}/feedback`;
    const details = (...texts: string[]): object => feedback('proceeding', 'none', texts);
    expect(await send(path, details('opkg <new> thing'))).toBe(400);
    expect(await send(path, details('a<b', '->', '&', '[new]'))).toBe(200);
    expect(await send(path, details(...Array.from({ length: 50 }, () => 'x')))).toBe(200);
    const answer = await ask(path, {
      method: 'POST',
      body: JSON.stringify(details(...Array.from({ length: 51 }, () => 'x'))),
    });
    expect(answer.status).toBe(429);
    expect(await answer.text()).not.toBe('');
    expect(await send(path, { status: { execution: 'proceeding' } })).toBe(400);
    expect(await send('/deploymentBase/999999/feedback', feedback('proceeding'))).toBe(404);
  });

  test('cancels an action when the device agrees, and lets it run if it does not', async () => {
    const id = await offer();
    await server.cancel(target, id);
    expect(Object.keys((await poll())._links ?? {})).toContain('cancelAction');
    expect((await ask(`/deploymentBase/${id}`)).status).toBe(404);
    expect(await (await ask(`/cancelAction/${id}`)).json()).toMatchObject({
      cancelAction: { stopId: id },
    });
    const path = `/cancelAction/${id}/feedback`;
    expect(await send(path, feedback('canceled'))).toBe(200);
    expect(Object.keys((await poll())._links ?? {})).toContain('cancelAction');
    expect(await send(path, feedback('rejected'))).toBe(200);
    expect(Object.keys((await poll())._links ?? {})).toContain('deploymentBase');
    await server.cancel(target, id);
    expect(await send(path, feedback('closed', 'success'))).toBe(200);

    expect((await server.action(target, id)).status).toBe('canceled');
  });

  test('takes the end of an action that it wants to be canceled', async () => {
    const id = await offer();
    await server.cancel(target, id);
    expect(await send(`/deploymentBase/${id}/feedback`, feedback('closed', 'success'))).toBe(200);
    expect((await server.action(target, id)).status).toBe('finished');
    expect(await send(`/cancelAction/${id}/feedback`, feedback('closed', 'success'))).toBe(405);
  });
});
