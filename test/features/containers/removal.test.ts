import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';

import { openStore, type Store } from '../packages/open-store.ts';
import { asOfAnotherBoot, forgetEnd } from '../../support/power-cut.ts';
import { containerApp } from './container-app.ts';
import { startEngine, type StandInEngine } from './stand-in-engine.ts';

let folder: string;
let engine: StandInEngine;
let store: Store;

const COMPOSE = `export COMPOSE_PROJECT_NAME=linkease-photos
docker-compose up -d
case $1 in rm) docker rm -f photos ;; esac
`;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'depotd-containers-'));
  store = await openStore(
    {
      packages: [
        containerApp('films', { settings: filmSettings() }),
        containerApp('photos', { script: COMPOSE }),
        containerApp('stuck', { scripts: { prerm: '#!/bin/sh\nkill -9 $PPID\n' } }),
      ],
    },
    { set: [`container.socket=${at('engine.sock')}`] },
  );
});
afterAll(async () => {
  await store.close();
  await rm(folder, { recursive: true, force: true });
});

/** The disk as its owner has it, and an engine without anything. */
beforeEach(async () => {
  await rm(at('disk'), { recursive: true, force: true });
  await mkdir(at('disk/Configs/films'), { recursive: true });
  await writeFile(at('disk/Configs/films/library.db'), 'films');
  for (const name of ['media', 'shared', 'other']) {
    await mkdir(at(`disk/${name}/inner`), { recursive: true });
  }
  engine = await startEngine(at('engine.sock'));
});
afterEach(() => engine.close());

const filmSettings = (): string =>
  `\toption config_path '${at('disk/Configs/films')}'\n` +
  `\toption media_path '${at('disk/media')}'\n`;
const at = (path: string): string => join(folder, path);
const names = (): string[] => engine.containers.map(({ name }) => name).sort();
const install = (app: string): Promise<unknown> =>
  store.run('install', { package: `luci-app-${app}` });
const remove = (app: string, more: Record<string, string> = {}): ReturnType<Store['run']> =>
  store.run('remove', { package: `luci-app-${app}`, ...more });
const plan = async (app: string): Promise<Record<string, unknown>> =>
  (await (
    await store.daemon.get(`admin/store/plan?operation=remove&package=luci-app-${app}`)
  ).json()) as Record<string, unknown>;

/** The app's own folder, the owner's films, a whole disk, the system, and one behind a link. */
async function addFilms(more: object = {}): Promise<void> {
  await symlink(at('disk/other'), at('disk/link'));
  engine.images.push('films/films', 'other');
  engine.volumes.push('films-cache', 'kept');
  engine.containers.push(
    {
      ...{ name: 'films', image: 'films/films' },
      binds: [
        ...[at('disk/Configs/films'), at('disk/media'), at('disk'), '/', '/etc', '/dev/shm'],
        ...[at('disk/link/films'), `${at('disk')}/../disk/other`, at('disk/nothing')],
      ],
      volumes: ['films-cache'],
      ...more,
    },
    { name: 'other', volumes: ['kept'] },
  );
}

test('the plan of a removal names the containers, the image and the data of the app', async () => {
  await install('films');
  await addFilms();

  expect((await plan('films')).containers).toEqual([
    {
      ...{ name: 'films', image: 'films/films', image_bytes: 7_000_000, is_unpinned: true },
      keeps: [at('disk/Configs/films'), '/var/lib/docker/volumes/films-cache/_data'],
    },
  ]);
});

test('a removal removes the containers of the app, and keeps images and data', async () => {
  await install('films');
  await addFilms();

  const task = await remove('films');

  expect(task).toMatchObject({ state: 'done' });
  expect(engine.deeds).toEqual(['stop films', 'remove films']);
  expect(task.log).toContain('the container films is removed');
  expect(task.log).toContain(`data stays: ${at('disk/Configs/films')}`);
  expect(await readdir(at('disk/Configs/films'))).toEqual(['library.db']);
});

test('a removal with purge takes what the plan named, and nothing else', async () => {
  await install('films');
  await addFilms();

  expect(await remove('films', { purge: '1' })).toMatchObject({ state: 'done' });

  expect(engine.deeds).toEqual([
    ...['stop films', 'remove films', 'remove volume films-cache', 'remove image films/films'],
  ]);
  expect(await readdir(at('disk/Configs'))).toEqual([]);
  expect(await readdir(at('disk/media'))).toEqual(['inner']);
  expect(await readdir(at('disk/other'))).toEqual(['inner']);
});

test.each([
  ['another container', () => engine.containers.push({ name: 'b', binds: [films('inner')] })],
  ['another app', () => setting('samba4', films())],
  ['this app, for something else', () => setting('films', films('media'), 'media_path')],
])('a folder that %s uses, too, is not data of the app', async (_, use) => {
  await install('films');
  await addFilms();
  await use();

  expect((await plan('films')).containers).toMatchObject([
    { name: 'films', keeps: ['/var/lib/docker/volumes/films-cache/_data'] },
  ]);
});
const films = (inner = ''): string => join(at('disk/Configs/films'), inner);
async function setting(file: string, path: string, option = 'path'): Promise<void> {
  const own = `\toption config_path '${films()}'\n`;
  const text = `config share 'one'\n\toption ${option} '${path}'\n${file === 'films' ? own : ''}`;
  const config = join(store.device.root, 'etc/config', file);
  const before = await readFile(config).catch(() => undefined);
  onTestFinished(() => (before === undefined ? rm(config) : writeFile(config, before)));
  await writeFile(config, text);
}

test('all containers of the project go, whatever they are called; those of others stay', async () => {
  await install('photos');
  const of = (project: string): { labels: Record<string, string> } => ({
    labels: { 'com.docker.compose.project': project },
  });
  engine.containers.push(
    { name: 'photos_server', ...of('linkease-photos') },
    { name: 'photos_database', ...of('linkease-photos') },
    { name: 'photos', ...of('my-own') },
    { name: 'lone' },
  );

  expect(await remove('photos')).toMatchObject({ state: 'done' });

  expect(names()).toEqual(['lone', 'photos']);
});

test('a removal that fails leaves the container running', async () => {
  await install('stuck');
  engine.containers.push({ name: 'stuck' });

  expect(await remove('stuck')).toMatchObject({ state: 'failed' });

  expect(engine.deeds).toEqual([]);
});

test('containers of an app that had gone when the power went go with the next start', async () => {
  await install('films');
  await addFilms();
  const { id: task } = await remove('films');
  await store.daemon.kill('SIGKILL');
  const journal = join(store.device.root, 'etc/depotd/jobs.jsonl');
  await forgetEnd(journal, task);
  await asOfAnotherBoot(journal);
  engine.containers.push({ name: 'films' });

  await store.daemon.restart();

  expect(await store.daemon.finished(task)).toMatchObject({ state: 'done' });
  expect(names()).toEqual(['other']);
});

test('an engine that gives no answer refuses the removal before anything has gone', async () => {
  await install('films');
  engine.isSilent = true;

  const task = await remove('films');

  expect(task).toMatchObject({ state: 'failed' });
  expect(task.error).toContain('the container engine does not answer');
  expect(await store.statusOf('luci-app-films')).toMatchObject({ installed: true });
});

test('a container that cannot be removed fails the task by its name', async () => {
  await install('films');
  await addFilms({ refusal: 'device or resource busy' });

  const task = await remove('films');

  expect(task).toMatchObject({ state: 'failed', packages: ['luci-app-films'] });
  expect(task.error).toBe('cannot remove the container films: device or resource busy');
});

test('a container that goes with its end (--rm) is waited for, and what it had goes behind it', async () => {
  await install('films');
  await addFilms({ goesFor: 2 });

  const task = await remove('films', { purge: '1' });

  expect(task).toMatchObject({ state: 'done' });
  expect(names()).toEqual(['other']);
  expect(engine.deeds).toEqual(expect.arrayContaining(['remove volume films-cache']) as unknown);
});

test('without an engine an app goes like any other', async () => {
  await install('films');
  await engine.close();

  expect((await plan('films')).containers).toBeUndefined();
  const task = await remove('films');
  expect(task).toMatchObject({ state: 'done' });
  expect(task.log).toContain('the container engine does not run');
});
