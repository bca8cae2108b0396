import { randomBytes } from 'node:crypto';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';

import type { FeedPackage } from '../../device/feed-index.ts';
import { createIpk } from '../../device/ipk.ts';
import { openStore, type Store } from '../packages/open-store.ts';
import { uploadFile, type UndoStatus } from './undo-tasks.ts';

const sent = (version: string, more: Partial<FeedPackage> = {}): FeedPackage => ({
  name: 'sent',
  version,
  architecture: 'all',
  files: { '/usr/bin/sent': `sent ${version}\n` },
  ...more,
});

const META: FeedPackage = { name: 'meta-only', version: '1.0-1', architecture: 'all', files: {} };

let store: Store;
/** For one test alone. */
async function open(...[device, daemon]: Parameters<typeof openStore>): Promise<void> {
  store = await openStore(device ?? { packages: [sent('1.0-1'), META] }, daemon);
  const opened = store;
  onTestFinished(() => opened.close());
}

const statusOf = async (id: string): Promise<UndoStatus> => await store.daemon.status(id);
const planOf = async (id: string): Promise<Record<string, unknown>> => {
  const answer = await store.daemon.get(`admin/store/plan?operation=undo&task_id=${id}`);
  return (await answer.json()) as Record<string, unknown>;
};
const config = (): string => join(store.device.root, 'etc/config/demo-app');

describe('on one device,', () => {
  let shared: Store;
  beforeAll(async () => {
    shared = await openStore({ packages: [sent('1.0-1'), META] });
  });
  beforeEach(() => {
    store = shared;
  });
  afterAll(() => shared.close());

  test('a removal says that it can be undone, plans it, and brings back settings and all', async () => {
    await store.run('install', { package: 'demo' });
    await writeFile(config(), 'of its owner\n');
    const before = await store.packages();
    const { id } = await store.run('remove', { package: 'demo' });
    await writeFile(config(), 'changed since\n');

    expect(await statusOf(id)).toMatchObject({ can_undo: true, kept_in: 'memory' });
    expect(await planOf(id)).toMatchObject({
      installs: [{ name: 'app-meta-demo' }, { name: 'demo-app' }, { name: 'libdemo' }],
      removes: [],
      is_possible: true,
      kept_in: 'memory',
    });
    const undone = await store.run('undo', { task_id: id });

    expect([undone.state, undone.kind, undone.package]).toEqual(['done', 'undo', 'demo']);
    expect(await store.packages()).toEqual(before);
    expect(await readFile(config(), 'utf8')).toBe('changed since\n');
    expect((await statusOf(id)).no_undo).toBe(
      `app-meta-demo was changed since by task ${undone.id} (${undone.command}).`,
    );
  });

  test("what is kept is root's alone", async () => {
    await store.run('install', { package: 'demo' });
    const { id } = await store.run('remove', { package: 'demo' });
    const folder = join(store.device.root, 'tmp/depotd/undo', id);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    const manifest = await stat(join(folder, 'manifest.json'));
    expect(manifest.mode & 0o777).toBe(0o600);
  });

  test('an undone upload brings back the version before it, and its record goes', async () => {
    await store.run('install', { package: 'sent' });
    const id = await uploadFile(store.daemon, createIpk(sent('2.0-1')).bytes, 'sent.ipk');
    expect((await store.daemon.finished(id)).state).toBe('done');
    const records = async (): Promise<{ id: string }[]> => {
      const answer = await store.daemon.get('admin/store/run_records');
      return ((await answer.json()) as { records: { id: string }[] }).records;
    };
    const [record] = await records();

    expect((await store.run('unrun', { id: record?.id ?? '' })).state).toBe('done');

    expect((await store.packages()).sent).toBe('1.0-1');
    await expect.poll(records).toEqual([]);
  });

  test('what was changed on the way since it was kept is not put back', async () => {
    await store.run('install', { package: 'sent' });
    const { id } = await store.run('remove', { package: 'sent' });
    const folder = join(store.device.root, 'tmp/depotd/undo', id);
    const [file] = (await readdir(folder)).filter((name) => name.endsWith('.ipk'));
    await writeFile(join(folder, file ?? ''), createIpk(sent('1.0-1', { files: {} })).bytes);

    const answer = await store.daemon.post('admin/store/undo', { task_id: id });

    expect([answer.status, await answer.text()]).toEqual([
      409,
      expect.stringContaining('what was kept for it is damaged') as string,
    ]);
  });

  test('a removal comes back with the packages that have no files, too', async () => {
    await store.run('install', { package: 'meta-only' });
    const before = await store.packages();
    const { id } = await store.run('remove', { package: 'meta-only', confirm_s: '60' });

    expect(await store.daemon.status(id)).toMatchObject({ state: 'done', can_undo: true });
    expect((await store.run('undo', { task_id: id })).state).toBe('done');
    expect(await store.packages()).toEqual(before);
  });
});

test('what another package came to need stays: the undo is refused and names it', async () => {
  await open();
  const { id } = await store.run('install', { package: 'libdemo' });
  const later = await store.run('install', { package: 'demo-app' });

  const { no_undo: why } = await statusOf(id);
  expect(why).toBe(
    `libdemo is needed by demo-app, which came later by task ${later.id} (${later.command}).`,
  );
  const answer = await store.daemon.post('admin/store/undo', { task_id: id });
  expect([answer.status, await answer.text()]).toEqual([
    409,
    expect.stringContaining('libdemo is needed by demo-app') as string,
  ]);
  expect((await planOf(id)).is_possible).toBe(false);
});

test('a change of the feeds and of their lists can be undone', async () => {
  await open();
  const feeds = async (): Promise<string | undefined> =>
    store.device.read('etc/opkg/customfeeds.conf');
  const before = await feeds();
  const { id } = await store.run('set_feed', { name: 'lab', enabled: '0' });
  expect(await statusOf(id)).toMatchObject({ can_undo: true });
  await store.run('undo', { task_id: id });
  expect(await feeds()).toBe(before);

  store.device.publish(2);
  const list = (): Promise<Buffer> => readFile(join(store.device.root, 'var/opkg-lists/lab'));
  const old = await list();
  const updated = await store.run('update');
  expect(await list()).not.toEqual(old);
  await store.run('undo', { task_id: updated.id });
  expect(await list()).toEqual(old);
});

test('with no room nothing is kept, the task is done, and says so', async () => {
  await open({}, { set: ['main.undo_mb=0'] });
  await store.run('install', { package: 'demo' });
  const { id, state } = await store.run('remove', { package: 'demo' });
  expect([state, (await statusOf(id)).no_undo]).toEqual([
    'done',
    'There was no room to keep what it replaced.',
  ]);
  const refused = await store.run('install', { package: 'demo', confirm_s: '30' });
  expect([refused.state, refused.error_code]).toEqual(['failed', 'no_space']);
});

test('what cannot be kept for another reason than room says that, and no room', async () => {
  await open();
  await store.run('install', { package: 'demo' });
  for (const folder of [
    join(store.device.root, 'tmp/depotd/undo'),
    join(store.device.root, 'etc/depotd/undo'),
  ]) {
    await rm(folder, { recursive: true, force: true });
    await writeFile(folder, 'of somebody else');
  }

  const { id, state } = await store.run('remove', { package: 'demo' });

  expect([state, (await statusOf(id)).no_undo]).toEqual([
    'done',
    'What it replaced could not be kept; its log says why.',
  ]);
  const refused = await store.run('install', { package: 'demo', confirm_s: '30' });
  expect([refused.state, refused.error_code]).toEqual(['failed', 'unknown']);
});

test('the oldest goes first when there is no more room', async () => {
  const large = (version: string): FeedPackage =>
    sent(version, { files: { '/usr/bin/sent': randomBytes(450_000).toString('base64') } });
  await open({ packages: [large('1.0-1')] }, { set: ['main.undo_mb=1'] });
  const ids: string[] = [];
  for (let round = 0; round < 2; round += 1) {
    await store.run('install', { package: 'sent' });
    ids.push((await store.run('remove', { package: 'sent' })).id);
    await store.run('install', { package: 'demo' });
    await store.run('remove', { package: 'demo' });
  }
  const kept = await readdir(join(store.device.root, 'tmp/depotd/undo'));
  expect(kept).not.toContain(ids[0]);
  expect(kept).toContain(ids[1]);
});

test('what a task kept goes when the task is forgotten, and not at the next start', async () => {
  await open({}, { set: ['main.keep_jobs=1'] });
  const kept = join(store.device.root, 'tmp/depotd/undo');
  const { id } = await store.run('install', { package: 'demo' });
  expect(await readdir(kept)).toEqual([id]);

  await store.run('update');

  await expect.poll(async () => (await statusOf(id)).state).toBeUndefined();
  await expect.poll(() => readdir(kept).catch(() => [])).toEqual([]);
});

test('an undo puts back what was kept also if there is no room to keep what that replaces', async () => {
  const large = (version: string): FeedPackage =>
    sent(version, { files: { '/usr/bin/sent': randomBytes(450_000).toString('base64') } });
  await open({ packages: [large('1.0-1')] }, { set: ['main.undo_mb=1'] });
  await store.run('install', { package: 'sent' });
  store.device.feed.publish([large('2.0-1')]);
  await store.run('update');
  const { id } = await store.run('upgrade', { package: 'sent' });
  expect((await statusOf(id)).can_undo).toBe(true);

  expect((await store.run('undo', { task_id: id })).state).toBe('done');

  expect(await store.packages()).toEqual({ sent: '1.0-1' });
});
