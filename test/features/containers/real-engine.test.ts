import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { createEngineApi, type EngineApi } from '../container-data/engine-api.ts';
import { shellImage } from '../container-data/engine-device.ts';
import { openStore, type Store } from '../packages/open-store.ts';
import { containerApp } from './container-app.ts';

const APPS = ['films', 'photos', 'books', 'notes', 'tubes'];
let folder: string;
let api: EngineApi;
let store: Store;
let endEngine: () => Promise<void>;

const at = (path: string): string => join(folder, path);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'depotd-real-engine-'));
  const engine = spawn(
    'dockerd',
    [
      ...['--iptables=false', '--ip-masq=false', '--bridge=none', '--storage-driver=vfs'],
      ...['--config-file', at('none.json'), '--data-root', at('data'), '--exec-root', at('exec')],
      ...['--pidfile', at('engine.pid'), '--host', `unix://${at('engine.sock')}`],
    ],
    { stdio: 'ignore' },
  );
  endEngine = async () => {
    const ended = once(engine, 'exit');
    engine.kill('SIGTERM');
    await ended;
  };
  await writeFile(at('none.json'), '{}');
  api = createEngineApi(at('engine.sock'));
  await vi.waitUntil(api.answers, { timeout: 30_000 });
  await api.importImage(await shellImage(folder), 'tiny');
  store = await openStore(
    {
      packages: APPS.map((app) =>
        containerApp(app, { settings: `\toption config_path '${at(`Configs/${app}`)}'\n` }),
      ),
    },
    { set: [`container.socket=${at('engine.sock')}`] },
  );
  for (const app of APPS) {
    await store.run('install', { package: `luci-app-${app}` });
    await mkdir(at(`Configs/${app}`), { recursive: true });
    await api.run('tiny', {
      ...{
        name: app,
        script: 'trap exit TERM; echo >/config/file; sleep 600 & wait',
        restart: 'always',
      },
      binds: [`${at(`Configs/${app}`)}:/config`, `${app}-volume:/volume`],
    });
  }
}, 120_000);
afterAll(async () => {
  await store.close();
  await endEngine();
  await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}, 60_000);

test('of five container apps nothing runs on, and their data is there; the sixth is its owner’s', async () => {
  await api.run('tiny', { name: 'mine', script: 'sleep 600' });
  const [last = '', ...apps] = APPS;

  for (const app of apps) {
    expect(await store.run('remove', { package: `luci-app-${app}` })).toMatchObject({
      state: 'done',
    });
  }
  expect(await api.running()).toEqual([last, 'mine'].sort());
  expect(await readdir(at('Configs/photos'))).toEqual(['file']);

  const purged = await store.run('remove', { package: `luci-app-${last}`, purge: '1' });
  expect(purged).toMatchObject({ state: 'done' });
  expect(purged.log).toContain(`the volume ${last}-volume is removed`);
  expect(purged.log).toMatch(/the image tiny.* stays: conflict/);
  expect(await api.running()).toEqual(['mine']);
  expect((await readdir(at('Configs'))).sort()).toEqual([...apps].sort());
}, 120_000);
