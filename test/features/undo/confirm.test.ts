import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import { lockHolderOf } from '../../../src/device/lock-holder.ts';
import { startLockHolder } from '../../device/lock-holder.ts';
import { asOfAnotherBoot } from '../../support/power-cut.ts';
import { mountDisk } from '../packages/no-room.ts';
import { openStore, type Store } from '../packages/open-store.ts';
import type { UndoStatus } from './undo-tasks.ts';

/** A script that goes on when a file is gone. */
const WAITS = 'f="$IPKG_INSTROOT/mnt/slow"; while [ -e "$f" ]; do echo waits; sleep 0.1; done';
/** The least that can be asked for. */
const CONFIRM_S = 30;
const LIMIT_MS = 150_000;

let store: Store;
/** For one test alone. */
async function open(...options: readonly string[]): Promise<void> {
  store = await openStore({}, { set: [...options] });
  onTestFinished(() => store.close());
}

const install = async (): Promise<string> => {
  const { id, state } = await store.run('install', {
    package: 'demo',
    confirm_s: String(CONFIRM_S),
  });
  expect(state).toBe('done');
  return id;
};
const statusOf = async (id: string): Promise<UndoStatus> => await store.daemon.status(id);
const goesBack = (): Promise<void> =>
  expect.poll(store.packages, { timeout: LIMIT_MS, interval: 500 }).toEqual({});

describe('before anything is changed,', () => {
  beforeAll(async () => {
    store = await openStore({
      packages: [
        { name: 'dnsmasq-full', version: '1', architecture: 'all', files: { '/usr/x': '' } },
      ],
    });
  });
  afterAll(() => store.close());

  test.each(['29', '601', '1e2', ''])('"%s" seconds are refused', async (seconds) => {
    const params = { package: 'demo', confirm_s: seconds };
    expect((await store.daemon.post('admin/store/install', params)).status).toBe(400);
  });

  test('a plan names what may cut its owner off', async () => {
    const planOf = async (name: string): Promise<unknown> =>
      (await store.daemon.get(`admin/store/plan?operation=install&package=${name}`)).json();
    expect(await planOf('dnsmasq-full')).toMatchObject({
      restarts: [{ what: 'dns', package: 'dnsmasq-full' }],
    });
    expect(await planOf('demo')).not.toHaveProperty('restarts');
  });
});

test('what nobody confirms goes back by itself, though the daemon was killed in between', async () => {
  await open();
  const id = await install();
  const { confirm_by: by = 0 } = await statusOf(id);
  expect(by - Date.now() / 1000).toBeGreaterThan(CONFIRM_S - 15);
  process.kill(store.daemon.pid, 'SIGKILL');
  await store.daemon.restart();
  expect(Math.abs(((await statusOf(id)).confirm_by ?? 0) - by)).toBeLessThan(4);

  await goesBack();

  expect(Date.now() / 1000).toBeGreaterThan(by - 2);
  const answer = await store.daemon.post('admin/store/confirm', { task_id: id });
  expect(answer.status).toBe(409);
  expect((await statusOf(id)).confirm_by).toBeUndefined();
});

test('what nobody confirms goes back though the power goes in the midst of that, however few are kept', async () => {
  await open('main.keep_jobs=1');
  const at = (path: string): string => join(store.device.root, path);
  store.device.feed.publish([
    { ...{ name: 'demo', version: '1.0-1', architecture: 'all' }, scripts: { prerm: WAITS } },
  ]);
  await store.run('update');
  const id = await install();
  await writeFile(at('mnt/slow'), '');
  const boot = async (): Promise<void> => {
    await store.daemon.kill('SIGKILL');
    for (const file of ['jobs.jsonl', 'to-confirm.json']) {
      await asOfAnotherBoot(at(join('etc/depotd', file)));
    }
    await store.daemon.restart();
  };
  await boot();
  await expect.poll(() => store.device.read('etc/depotd/to-confirm.json')).toContain('"boots":1');
  await boot();
  await expect.poll(async () => (await undoOf(id)).log).toContain('waits');
  const first = await undoOf(id);

  await store.daemon.kill('SIGKILL');
  process.kill((await lockHolderOf(at('var/lock/opkg.lock'), 'POSIX')) ?? Number.NaN, 'SIGKILL');
  await rm(at('mnt/slow'));
  const other = await startLockHolder(store.device, { isBehindOpkg: true });
  await boot();
  await expect.poll(async () => (await statusOf(id)).confirm_by).toBeUndefined();
  await other.release();

  await expect.poll(store.packages).toEqual({});
  // With the end of the next one its record goes: one is kept. The log has its end.
  const ends = store.daemon.log.filter((line) => line.includes('"job ended"'));
  const itsEnd = ends.find((line) => line.includes(first.id)) ?? '';
  expect(itsEnd).toContain('"state":"interrupted"');
});

test('what nobody confirms goes back, though its undo finds the disk full, and the next one is stopped', async () => {
  await open();
  const at = (path: string): string => join(store.device.root, path);
  store.device.feed.publish([
    { ...{ name: 'demo', version: '1.0-1', architecture: 'all' }, scripts: { postinst: WAITS } },
  ]);
  await store.run('update');
  await store.run('install', { package: 'demo' });
  await mountDisk(at('overlay'), 2);
  const { id } = await store.run('remove', { package: 'demo', confirm_s: String(CONFIRM_S) });
  await expect(writeFile(at('overlay/full'), Buffer.alloc(4 * 1024 ** 2))).rejects.toThrow();
  const undoneWith = async () => (await store.daemon.status((await undoOf(id)).id)).error_code;
  await expect.poll(undoneWith, { timeout: LIMIT_MS, interval: 500 }).toBe('no_space');

  await writeFile(at('mnt/slow'), '');
  await rm(at('overlay/full'));
  await expect.poll(async () => (await undoOf(id)).log).toContain('waits');
  const next = await undoOf(id);
  await store.daemon.post('admin/system/tasks/stop', { task_id: next.id });
  await rm(at('mnt/slow'));

  expect((await store.daemon.finished(next.id)).state).toBe('stopped');
  await expect.poll(store.packages).toEqual({ demo: '1.0-1' });
});

/** The newest. */
async function undoOf(id: string): Promise<{ id: string; log: string }> {
  const text = await (await store.daemon.get('admin/system/tasks/status')).text();
  const all = Object.entries(JSON.parse(text) as Record<string, { kind: string }>);
  const [undo = id] = all.findLast(([, { kind }]) => kind === 'undo') ?? [];
  return { id: undo, log: await store.daemon.logOf(undo) };
}

test('what waits to be confirmed is not forgotten, however few tasks are kept', async () => {
  await open('main.keep_jobs=1');
  const id = await install();

  await store.run('update');
  expect((await statusOf(id)).confirm_by).toBeDefined();
  process.kill(store.daemon.pid, 'SIGKILL');
  await store.daemon.restart();
  expect((await statusOf(id)).confirm_by).toBeDefined();

  await store.daemon.post('admin/store/confirm', { task_id: id });
  await store.run('update');
  expect((await statusOf(id)).state).toBeUndefined();
});

test('what is confirmed stays, and can still be undone', async () => {
  await open();
  const id = await install();
  expect((await store.daemon.post('admin/store/confirm', { task_id: id })).status).toBe(200);
  process.kill(store.daemon.pid, 'SIGKILL');
  await store.daemon.restart();
  expect((await statusOf(id)).confirm_by).toBeUndefined();
  expect(Object.keys(await store.packages())).toContain('demo-app');
  expect((await statusOf(id)).can_undo).toBe(true);
  expect((await store.run('undo', { task_id: id })).state).toBe('done');
  expect(await store.packages()).toEqual({});
});
