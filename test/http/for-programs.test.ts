import { afterAll, beforeAll, expect, test } from 'vitest';

import { openStore, type Store } from '../features/packages/open-store.ts';
import { ask, type Answer } from '../support/ask.ts';

let store: Store;

beforeAll(async () => {
  store = await openStore();
});
afterAll(() => store.close());

const at = (path: string): string => `${store.daemon.url}${store.daemon.base}/${path}`;
const post = (path: string, form: Record<string, string>): Promise<Answer> =>
  ask(at(path), { method: 'POST', form });

test('a change with a parameter that nobody knows is refused, in form and address', async () => {
  const token = await store.daemon.token();
  const { paths } = (await (await fetch(at('openapi.json'))).json()) as {
    paths: Record<string, Record<string, object>>;
  };
  const changes = Object.entries(paths).filter(([, methods]) => 'post' in methods);
  expect(changes.length).toBeGreaterThan(20);
  for (const [path] of changes) {
    const refused = await ask(`${store.daemon.url}${path}?dry_run=1&token=${token}`, {
      method: 'POST',
    });
    expect([path, refused.status]).toEqual([path, 400]);
  }

  const inForm = await post('admin/store/install', { package: 'demo', token, dry_run: '1' });
  expect(inForm.status).toBe(400);
  expect(inForm.text).toContain('dry_run');
  expect((await post('admin/store/update', { token, _t: '1' })).status).toBe(200);
  expect(await store.statusOf('demo')).toEqual({ installed: false });
});

test('a token may stand in a header, in place of the form and the address', async () => {
  const token = await store.daemon.token();
  const send = (header: string, form: Record<string, string> = {}): Promise<Answer> =>
    ask(at('admin/store/update'), {
      method: 'POST',
      form,
      headers: { 'x-csrf-token': header },
    });

  expect((await send(token)).status).toBe(200);
  expect((await send('wrong')).status).toBe(403);
  expect((await send('wrong', { token })).status).toBe(403);
  expect((await send('')).status).toBe(403);
});

test('with nobody to log in openapi.json says that no session is needed, and what codes there are', async () => {
  const { paths, components } = (await (await fetch(at('openapi.json'))).json()) as {
    paths: Record<string, { get: { security: object[] } }>;
    components: { schemas: Record<string, { properties: { error_code: { enum: string[] } } }> };
  };

  expect(paths[`${store.daemon.base}/admin/store/available`]?.get.security).toContainEqual({});
  expect(components.schemas.Refusal?.properties.error_code.enum).toContain('queue_full');
});

test('an event source that comes back after the end of a task is told to stay away', async () => {
  const { id } = await store.run('install', { package: 'demo' });
  const path = at(`admin/system/tasks/events?task_id=${id}`);
  const events = await (await fetch(path)).text();
  const last = /event: end\nid: (.*)\n/.exec(events)?.[1] ?? '';

  expect((await fetch(path, { headers: { 'last-event-id': last } })).status).toBe(204);
  // Its connection broke before the end came.
  const size = last.replace(/\D+$/, '');
  const again = await fetch(path, { headers: { 'last-event-id': size } });
  expect(await again.text()).toContain('event: end\n');
});

test('figures count the tasks that ended, and for how long they ran', async () => {
  await store.run('install', { package: 'absent' });

  const text = await (await fetch(`${store.daemon.url}/metrics`)).text();

  expect(text).toMatch(/^depotd_tasks_ended_total\{kind="install",state="failed"\} [1-9]/m);
  expect(text).toMatch(/^depotd_tasks_duration_seconds_total\{kind="install",state="failed"\} \d/m);
});

test('JSON is packed for who asks for that, and for nobody else', async () => {
  const path = 'admin/store/available?kind=all';
  const get = (coding: string): Promise<Response> =>
    fetch(at(path), { headers: { 'accept-encoding': coding } });
  const [plain, packed] = [await get('identity'), await get('gzip')];

  expect(plain.headers.get('content-encoding')).toBeNull();
  expect(packed.headers.get('content-encoding')).toBe('gzip');
  expect(packed.headers.get('vary')).toBe('Accept-Encoding');
  const text = await plain.text();
  expect(await packed.text()).toBe(text);
  expect(Number(packed.headers.get('content-length'))).toBeLessThan(text.length / 2);
  const etag = packed.headers.get('etag') ?? '';
  expect(etag).toMatch(/^W\//);
  const headers = { 'if-none-match': etag, 'accept-encoding': 'gzip' };
  expect((await fetch(at(path), { headers })).status).toBe(304);
  expect((await fetch(at('admin/store/token'))).headers.get('content-encoding')).toBeNull();
});
