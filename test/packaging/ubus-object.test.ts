import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { openStore, type Store } from '../features/packages/open-store.ts';
import { loadPlugin, type UbusObject } from './ubus-plugin.ts';

const FILES = join(import.meta.dirname, '../../packaging/openwrt/ubus');
const READ = ['list', 'info', 'plan', 'tasks', 'task', 'log', 'status', 'health'];
const WRITE = ['install', 'remove', 'upgrade', 'update', 'stop'];

let folder: string;
let store: Store;
let depotd: UbusObject;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'depotd-owner-'));
  const socket = join(folder, 'owner.sock');
  store = await openStore({}, { set: [`main.owner_socket=${socket}`] });
  depotd = loadPlugin(join(FILES, 'depotd.uc'), socket);
});
afterAll(async () => {
  await store.close();
  await rm(folder, { recursive: true, force: true });
});

const ok = async (method: string, args?: object): Promise<Record<string, unknown>> => {
  const { status, reply } = await depotd.call(method, args);
  expect(status).toBe(0);
  return reply as Record<string, unknown>;
};
const json = async (path: string): Promise<unknown> => (await store.daemon.get(path)).json();

test('every method is in the access group, to read or to write', () => {
  const { depotd: group } = JSON.parse(readFileSync(join(FILES, 'acl.json'), 'utf8')) as Record<
    string,
    Record<'read' | 'write', { ubus: { depotd: string[] } }>
  >;

  expect(group?.read.ubus.depotd).toEqual(READ);
  expect(group?.write.ubus.depotd).toEqual(WRITE);
  expect([...depotd.methods].sort()).toEqual([...READ, ...WRITE].sort());
});

test('what is read has the keys that it has over HTTP', async () => {
  expect(await ok('list', { kind: 'package', q: 'demo' })).toEqual(
    await json('admin/store/available?kind=package&q=demo'),
  );
  expect(await ok('info', { package: 'demo' })).toEqual(
    await json('admin/store/details?package=demo'),
  );
  const { installs, is_possible: isPossible } = await ok('plan', {
    ...{ operation: 'install', packages: ['demo', 'notes'] },
  });
  expect(await json('admin/store/plan?operation=install&package=demo&package=notes')).toMatchObject(
    { installs, is_possible: isPossible },
  );
  expect(await ok('status')).toMatchObject({ package_manager: 'opkg' });
  expect(await ok('health')).toMatchObject({ status: 'ok' });
});

test('tasks begin, are followed, and are on record', async () => {
  const { task_id: id } = await ok('install', { packages: ['demo', 'notes'] });
  await store.daemon.finished(String(id));

  expect(await ok('task', { id })).toMatchObject({ state: 'done', package: 'notes' });
  expect(Object.values(await ok('tasks'))).toHaveLength(2);
  const { log, offset } = await ok('log', { id });
  expect(log).toContain('Configuring app-meta-notes');
  expect(await ok('log', { id, offset })).toEqual({ log: '', offset });
  expect(await store.packages()).toMatchObject({ 'app-meta-demo': '1.0-1' });
  const { task_id: upgrade } = await ok('upgrade');
  expect(await store.daemon.finished(String(upgrade))).toMatchObject({ state: 'done' });
});

test.each([
  [2, 'list', { page: 0 }],
  [2, 'list', { kind: 'x' }],
  [2, 'list', { nothing: '' }],
  [2, 'info', {}],
  [2, 'info', { package: 'a&package=b\r\nx: y' }],
  [2, 'install', {}],
  [2, 'install', { packages: [] }],
  [2, 'install', { packages: ['../etc'] }],
  [4, 'info', { package: 'absent' }],
  [4, 'task', { id: 'absent' }],
  [4, 'log', { id: 'absent' }],
  [4, 'stop', { id: 'absent' }],
])('the status is %i of %s %j', async (status, method, args) => {
  expect((await depotd.call(method, args)).status).toBe(status);
});

test('eight at once get their own answers; with the daemon gone each is told at once', async () => {
  const names = ['demo', 'notes', 'libonce', 'demo-app', 'demo', 'notes', 'libonce', 'demo-app'];
  const found = await Promise.all(names.map((name) => ok('info', { package: name })));
  expect(found.map(({ name }) => name)).toEqual(names);

  await store.daemon.kill('SIGTERM');
  const all = await Promise.all(names.map((name) => depotd.call('info', { package: name })));
  expect(all).toEqual(names.map(() => ({ status: 10 })));

  await store.daemon.restart();
  expect(await ok('info', { package: 'demo' })).toMatchObject({ name: 'demo' });
});
