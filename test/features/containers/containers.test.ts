import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { residentMb } from '../../bench/measures.ts';
import { openStore, type Store } from '../packages/open-store.ts';
import { containerApp } from './container-app.ts';
import { containerId, startEngine, type StandInEngine } from './stand-in-engine.ts';

let folder: string;
let engine: StandInEngine;
let store: Store;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'depotd-containers-'));
  engine = await startEngine(join(folder, 'engine.sock'));
  store = await openStore(
    { packages: [containerApp('films'), metaOf('films')] },
    // A process of its own, with the heap of the start script.
    { set: [`container.socket=${engine.socket}`], nodeFlags: ['--max-old-space-size=64'] },
  );
  await store.run('install', { package: 'films' });
});
afterAll(async () => {
  await store.close();
  await engine.close();
  await rm(folder, { recursive: true, force: true });
});

/** Without the flag `entrysh`, as most container apps of iStore are. */
const metaOf = (app: string): ReturnType<typeof containerApp> => ({
  ...{ name: `app-meta-${app}`, version: '1.0-1', architecture: 'all' },
  fields: { Depends: `luci-app-${app}` },
  files: {
    [`/usr/lib/opkg/meta/${app}.json`]: JSON.stringify({ name: app, depends: [`luci-app-${app}`] }),
  },
});

const PORT = { IP: '0.0.0.0', PrivatePort: 8096, PublicPort: 18_096, Type: 'tcp' };

const getJson = async (path: string): Promise<unknown> => (await store.daemon.get(path)).json();
const entries = async (params: Record<string, string>): Promise<unknown> =>
  (await store.daemon.post('admin/store/entrysh', { hostname: 'nas', ...params })).json();

test('containers are listed with app, project, ports and how often they were started again', async () => {
  engine.images.push('films:1');
  engine.containers.splice(
    0,
    9,
    {
      name: 'films',
      image: 'films:1',
      ports: [PORT, { PrivatePort: 9, Type: 'udp' }],
      restarts: 2,
    },
    { name: 'db', state: 'exited', labels: { 'com.docker.compose.project': 'mine' } },
  );

  expect(await getJson('admin/system/containers')).toEqual({
    engine: true,
    containers: [
      {
        ...{ id: containerId('films'), name: 'films', image: 'films:1', state: 'running' },
        ports: ['0.0.0.0:18096->8096/tcp', '9/udp'],
        ...{ app: 'films', restarts: 2, created_at: 1_790_000_000, image_bytes: 7_000_000 },
      },
      {
        ...{ id: containerId('db'), name: 'db', image: 'db', state: 'exited', ports: [] },
        ...{ project: 'mine', restarts: 0, created_at: 1_790_000_000 },
      },
    ],
  });
});

test('an app without entry script runs if its container does', async () => {
  engine.containers.splice(0, 9, { name: 'films', ports: [PORT] });
  const running = { app: 'films', docker: true, deployed: true, running: true, web: ':18096' };
  expect(await entries({ package: 'films' })).toEqual({ code: 200, status: [running], errors: [] });
  expect(await entries({})).toEqual({ code: 200, status: [running], errors: [] });

  engine.containers.splice(0, 9, { name: 'films', state: 'exited' });
  expect(await entries({ package: 'films' })).toMatchObject({
    status: [{ app: 'films', running: false, deployed: true }],
  });

  engine.containers.splice(0, 9);
  expect(await entries({ package: 'films' })).toMatchObject({
    status: [{ app: 'films', running: false, deployed: false }],
  });
});

test('ports have one order, whatever order the engine lists them in', async () => {
  const ports = [PORT, { ...PORT, PrivatePort: 80, PublicPort: 19_000 }, { ...PORT, IP: '::' }];
  for (const list of [ports, ports.toReversed()]) {
    engine.containers.splice(0, 9, { name: 'films', ports: list });
    expect(await getJson('admin/system/containers')).toMatchObject({
      containers: [
        { ports: ['0.0.0.0:19000->80/tcp', '0.0.0.0:18096->8096/tcp', '[::]:18096->8096/tcp'] },
      ],
    });
    expect(await entries({ package: 'films' })).toMatchObject({ status: [{ web: ':19000' }] });
  }
});

test.each(['127.0.0.1', '127.0.1.1', '::1'])(
  'a port that only the device itself reaches, at %s, is no page of an app',
  async (IP) => {
    const inner = { ...PORT, IP, PrivatePort: 80 };
    engine.containers.splice(0, 9, { name: 'films', ports: [inner, PORT] });
    expect(await entries({ package: 'films' })).toMatchObject({ status: [{ web: ':18096' }] });
    engine.containers.splice(0, 9, { name: 'films', ports: [inner] });
    const { status } = (await entries({ package: 'films' })) as { status: object[] };
    expect(status).toEqual([{ app: 'films', docker: true, deployed: true, running: true }]);
  },
);

test('the doctor names containers that are started again and again', async () => {
  engine.containers.splice(
    0,
    9,
    { name: 'films' },
    { name: 'bad', state: 'restarting', restarts: 7 },
  );

  const { checks } = (await getJson('admin/system/doctor')) as { checks: { id: string }[] };

  expect(checks.find(({ id }) => id === 'container-restarts')).toMatchObject({
    state: 'warning',
    message: 'containers are started again and again: bad (7 times)',
  });
});

test('labels of hostile images do not fill the memory', async () => {
  const labels = { label: 'x'.repeat(1024 ** 2) };
  const many = Array.from({ length: 28 }, (_, index) => ({ name: `c${index}`, labels }));
  engine.containers.splice(0, 9, ...many);
  const before = residentMb(store.daemon.pid);

  expect(await getJson('admin/system/containers')).toEqual({ engine: false, containers: [] });

  expect(residentMb(store.daemon.pid, 'VmHWM') - before).toBeLessThan(32);
  engine.containers.splice(0, 28);
});

const FOUR_MB = 4 * 1024 ** 2 - 100;
const numbered = (value: (index: number) => string): string =>
  Array.from({ length: 400_000 }, (_, index) => value(index))
    .join(',')
    .slice(0, FOUR_MB);

test.each([
  ['arrays in arrays', '['.repeat(FOUR_MB / 2) + ']'.repeat(FOUR_MB / 2)],
  ['objects', `[${'{},'.repeat(FOUR_MB / 3)}{}]`],
  ['objects of a kind each', `[${numbered((index) => `{"${index}":0}`)}`],
  ['labels', `[{"Id":"${'0'.repeat(12)}","Labels":{${numbered((index) => `"${index}":""`)}`],
])('an answer of all too many %s does not fill the memory', async (_, text) => {
  engine.text = text;
  expect(await getJson('admin/system/containers')).toEqual({ engine: false, containers: [] });
  engine.text = undefined;
  expect(await getJson('admin/system/containers')).toEqual({ engine: true, containers: [] });
});

test('without an engine there are no containers, at once or after seconds', async () => {
  engine.isSilent = true;
  const began = performance.now();
  expect(await getJson('admin/system/containers')).toEqual({ engine: false, containers: [] });
  expect(performance.now() - began).toBeLessThan(5000);

  engine.isSilent = false;
  await engine.close();
  expect(await getJson('admin/system/containers')).toEqual({ engine: false, containers: [] });
  expect(await entries({ package: 'films' })).toMatchObject({
    status: [{ app: 'films', docker: true, running: false }],
  });
});
