import { randomBytes } from 'node:crypto';
import { appendFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import type { FeedPackage } from '../../device/feed-index.ts';
import { startLockHolder, type LockHolder } from '../../device/lock-holder.ts';
import { usualPackages } from '../../device/packages/usual-packages.ts';
import { openStore, type Store } from '../packages/open-store.ts';

test('what others change while a task waits for opkg is not undone with it', async () => {
  const store = await openStore();
  try {
    const theirs = join(store.device.root, 'etc/config/theirs');
    await writeFile(theirs, 'before\n');
    // The lists are there with it: what waits is the task itself.
    await store.run('install', { package: 'tiny-02' });
    const other = await startLockHolder(store.device);
    const id = await store.daemon.submit('install', { package: 'tiny-01' });
    await expect.poll(() => store.daemon.logOf(id)).toContain(`waiting: process ${other.pid}`);
    await writeFile(theirs, 'theirs\n');
    await other.release();
    expect((await store.daemon.finished(id)).state).toBe('done');

    expect((await store.run('undo', { task_id: id })).state).toBe('done');

    expect(await readFile(theirs, 'utf8')).toBe('theirs\n');
    expect((await store.statusOf('tiny-01')).installed).toBe(false);
  } finally {
    await store.close();
  }
});

test('what others change while a task packs what it replaces is not undone with it', async () => {
  const large = (version: string, bytes: number): FeedPackage => ({
    ...{ name: 'large', version, architecture: 'all' },
    files: { '/usr/bin/large': { content: randomBytes(bytes) } },
  });
  const store = await openStore({ packages: [large('1.0-1', 12e6)] });
  try {
    await store.run('install', { package: 'large' });
    store.device.feed.publish([large('2.0-1', 100)]);
    await store.run('update');
    const id = await store.daemon.submit('upgrade', { package: 'large' });
    const kept = join(store.device.root, 'tmp/depotd/undo', id);
    await expect
      .poll(() => readdir(kept).catch(() => []), { interval: 5 })
      .toContain('large.ipk.data');
    await appendFile(
      join(store.device.root, 'usr/lib/opkg/status'),
      'Package: theirs\nVersion: 1.0-1\nStatus: install user installed\nArchitecture: all\n\n',
    );
    expect(await readdir(kept)).not.toContain('before.json');
    expect((await store.daemon.finished(id)).state).toBe('done');

    expect((await store.run('undo', { task_id: id })).state).toBe('done');

    expect(await store.packages()).toEqual({ large: '1.0-1', theirs: '1.0-1' });
  } finally {
    await store.close();
  }
});

test('an undo that is shut out while others remove what it was to remove can be undone, too', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'depotd-shut-out-'));
  const opkg = join(folder, 'opkg');
  const real = process.env.OPKG ?? join(import.meta.dirname, '../../device/bin/opkg');
  const locked = ' * opkg_conf_load: Could not lock /var/lock/opkg.lock: it is in use.';
  await writeFile(
    opkg,
    `#!/bin/sh
case " $* " in
*' remove '*) if rm '${folder}/armed' 2>/dev/null; then
	'${real}' "$@" >/dev/null
	echo 'Collected errors:
${locked}' >&2
	exit 255
fi ;;
esac
exec '${real}' "$@"
`,
    { mode: 0o755 },
  );
  const store = await openStore({ opkg });
  try {
    const { id } = await store.run('install', { package: 'tiny-01' });
    await writeFile(join(folder, 'armed'), '');

    const undo = await store.run('undo', { task_id: id });

    expect([undo.state, await store.packages()]).toEqual(['done', {}]);
    expect((await store.run('undo', { task_id: undo.id })).state).toBe('done');
    expect(Object.keys(await store.packages())).toEqual(['tiny-01']);
  } finally {
    await store.close();
    await rm(folder, { recursive: true });
  }
});

describe('a task that is stopped while it waits for opkg', () => {
  const sent = (version: string): FeedPackage => ({ name: 'sent', version, architecture: 'all' });
  let store: Store;
  let id: string;
  let other: LockHolder;

  /** It has fetched the lists by then, and has kept what it would replace. */
  async function submit(operation: string): Promise<void> {
    await rm(join(store.device.root, 'var/opkg-lists'), { recursive: true, force: true });
    store.device.feed.misbehave('Packages.gz', 'slow');
    id = await store.daemon.submit(operation, { package: 'sent' });
    await expect.poll(() => store.daemon.logOf(id)).toContain('Downloading');
    other = await startLockHolder(store.device, { isBehindOpkg: true });
    store.device.feed.behave();
    await expect.poll(() => store.daemon.logOf(id)).toContain(`waiting: process ${other.pid}`);
    await expect.poll(() => readdir(kept()).catch(() => [])).toContain('before.json');
  }

  async function stop(): Promise<void> {
    await store.daemon.post('admin/system/tasks/stop', { task_id: id });
    await other.release();
    expect((await store.daemon.finished(id)).state).toBe('stopped');
  }

  const kept = (): string => join(store.device.root, 'tmp/depotd/undo', id);
  const status = (): string => join(store.device.root, 'usr/lib/opkg/status');

  beforeEach(async () => {
    store = await openStore({ packages: [sent('1.0-1')] });
  });
  afterEach(() => store.close());

  test('does not put back what others removed', async () => {
    await store.run('install', { package: 'sent' });
    await store.run('install', { package: 'tiny-01' });
    store.device.feed.publish([sent('2.0-1'), ...usualPackages(1)]);
    await submit('upgrade');
    const info = join(store.device.root, 'usr/lib/opkg/info');
    for (const name of await readdir(info)) {
      if (name.startsWith('tiny-01.')) await rm(join(info, name));
    }
    const text = await readFile(status(), 'utf8');
    await writeFile(status(), text.replace(/Package: tiny-01\n[^]*?\n\n/, ''));

    await stop();

    expect(await store.packages()).toEqual({ sent: '1.0-1' });
  });

  test('does not remove what others installed', async () => {
    await submit('install');
    const theirs =
      'Package: theirs\nVersion: 1.0-1\nStatus: install user installed\nArchitecture: all\n\n';
    await writeFile(status(), (await readFile(status(), 'utf8')) + theirs);

    await stop();

    expect(await store.packages()).toEqual({ theirs: '1.0-1' });
  });
});
