import { existsSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FeedPackage } from '../../device/feed-index.ts';
import { simplePackage } from '../../device/packages/package-parts.ts';
import { treeSnapshot } from '../../support/tree-snapshot.ts';
import { openStore, type Store } from '../packages/open-store.ts';
import { changesIn, planOf } from './preview-answer.ts';

let store: Store;
afterEach(() => store.close());

const NOTHING = { installs: [], upgrades: [], removes: [] };

test('a plan says what an app brings, with its bytes, and the task does just that', async () => {
  store = await openStore();

  const plan = await planOf(store.daemon, 'install', 'demo');

  expect(plan.installs.map(({ name, reason }) => [name, reason])).toEqual(
    expect.arrayContaining([
      ['app-meta-demo', 'asked'],
      ['demo-app', 'dependency'],
      ['libdemo', 'dependency'],
    ]),
  );
  const sizes = await listedSizes(store, plan.installs);
  expect([plan.download_bytes, plan.disk_bytes]).toEqual([sizes.download, sizes.disk]);
  expect(plan.free_after_bytes).toBe(plan.free_bytes - plan.disk_bytes);
  expect(plan).toMatchObject({ problems: [], is_possible: true, upgrades: [], removes: [] });

  await store.run('install', { package: 'demo' });
  const planned = plan.installs.map(({ name, version }) => [name, version]);
  expect(await store.packages()).toEqual(Object.fromEntries(planned));
});

async function listedSizes(
  { device }: Store,
  changes: readonly { name: string }[],
): Promise<{ download: number; disk: number }> {
  const index = await fetch(`${device.feed.url}/Packages`).then((answer) => answer.text());
  const sum = (field: string): number =>
    changes
      .map(({ name }) =>
        new RegExp(`^Package: ${name}\\n(?:.+\\n)*?${field}: (\\d+)`, 'm').exec(index),
      )
      .reduce((all, match) => all + Number(match?.[1]), 0);
  return { download: sum('Size'), disk: sum('Installed-Size') };
}

test('what goes with an app is told, and what another one needs stays', async () => {
  store = await openStore();
  await store.run('install', { package: 'demo' });
  await store.run('install', { package: 'notes' });

  const plan = await planOf(store.daemon, 'remove', 'notes');

  expect(changesIn(plan).removes).toEqual([
    'app-meta-notes 1.0-1',
    'libonce 1.0-1',
    'notes-app 1.0-1',
  ]);
  expect(plan.removes.map(({ name, reason }) => `${name} ${reason}`).sort()).toEqual([
    'app-meta-notes asked',
    'libonce orphan',
    'notes-app orphan',
  ]);
  const before = await store.packages();
  await store.run('remove', { package: 'notes' });
  const gone = new Set(plan.removes.map(({ name }) => name));
  expect(await store.packages()).toEqual(
    Object.fromEntries(Object.entries(before).filter(([name]) => !gone.has(name))),
  );
});

test('what another package recommends stays, too: opkg does not remove it', async () => {
  store = await openStore({
    packages: [simplePackage('fan', { fields: { Recommends: 'libonce' } })],
  });
  await store.run('install', { package: 'notes' });
  await store.run('install', { package: 'fan' });
  await recordRecommended(store.device.root);

  const plan = await planOf(store.daemon, 'remove', 'notes');

  expect(changesIn(plan).removes).toEqual([
    'app-meta-notes 1.0-1',
    'libdemo 1.0-1',
    'notes-app 1.0-1',
  ]);
  expect(plan).toMatchObject({ problems: [], is_possible: true });
  expect(await store.run('remove', { package: 'notes' })).toMatchObject({ state: 'done' });
  expect(await store.packages()).toEqual({ fan: '1.0-1', libonce: '1.0-1' });
});

/** As opkg writes it, and its stand-in does not. */
async function recordRecommended(root: string): Promise<void> {
  const file = join(root, 'usr/lib/opkg/status');
  const status = await readFile(file, 'utf8');
  const line = 'Recommends: libonce\n';
  await writeFile(file, status.replace(line, '').replace(/^Package: fan\n.+\n/m, `$&${line}`));
}

test('what is already so is possible, changes nothing, and an upgrade of it runs nothing', async () => {
  store = await openStore();
  await store.run('install', { package: 'demo' });
  for (const operation of ['install', 'upgrade']) {
    const plan = await planOf(store.daemon, operation, 'demo');
    expect(changesIn(plan)).toEqual(NOTHING);
    expect(plan).toMatchObject({ is_possible: true, problems: [], download_bytes: 0 });
  }
  const before = await store.device.read('usr/lib/opkg/status');

  const done = await store.run('upgrade', { package: 'demo' });

  expect(done).toMatchObject({ state: 'done', exit_code: 0 });
  expect(done.log).toContain('nothing to do');
  expect(await store.device.read('usr/lib/opkg/status')).toBe(before);
});

test('a plan changes no file of the device, fetches nothing, and waits for no lock', async () => {
  store = await openStore({ packages: [SLOW] });
  await store.run('install', { package: 'notes' });
  const tree = await treeSnapshot(store.device.root);
  const requests = store.device.feed.requests();
  for (const operation of ['install', 'remove', 'upgrade']) {
    await planOf(store.daemon, operation, 'demo', 'notes', 'absent');
  }
  await planOf(store.daemon, 'upgrade');
  expect(await treeSnapshot(store.device.root)).toEqual(tree);
  expect(store.device.feed.requests()).toBe(requests);

  const task = await store.daemon.submit('install', { package: 'slow-script' });
  await expect.poll(() => store.daemon.logOf(task)).toContain('slow begins');
  const plan = await planOf(store.daemon, 'install', 'demo');
  expect(plan.is_possible).toBe(true);
  expect((await store.daemon.status(task)).running).toBe(true);
  await writeFile(join(store.device.root, 'go'), '');
  expect(await store.daemon.finished(task)).toMatchObject({ state: 'done' });
});

const SLOW: FeedPackage = {
  name: 'slow-script',
  version: '1.0-1',
  architecture: 'all',
  scripts: {
    postinst:
      '#!/bin/sh\necho slow begins\nwhile [ ! -e "$IPKG_INSTROOT/go" ]; do sleep 0.1; done\n',
  },
};

test('a plan of an app that does not fit has all that it takes, by its own name', async () => {
  const files = { '/usr/share/small': 'x' };
  store = await openStore({
    packages: [
      simplePackage('small', { files }),
      simplePackage('films', { installedSizeBytes: 1e15, fields: { Depends: 'libc, small' } }),
      simplePackage('app-meta-films', { fields: { Depends: 'libc, films' } }),
    ],
  });

  const plan = await planOf(store.daemon, 'install', 'films');

  expect(changesIn(plan).installs).toEqual([
    ...['app-meta-films 1.0-1', 'films 1.0-1', 'small 1.0-1'],
  ]);
  expect(plan.disk_bytes).toBeGreaterThan(1e15);
  expect(plan.free_after_bytes).toBeLessThan(0);
  expect(plan.problems.map(({ code }) => code)).toEqual(['no_space']);
  expect(plan.problems[0]?.message).toMatch(/^cannot install films: .*needs 909\.49 TiB.*free/);
});

describe('each problem has its code', () => {
  const simple = (name: string, more: Partial<FeedPackage> = {}): FeedPackage => ({
    name,
    version: '1.0-1',
    architecture: 'all',
    ...more,
  });
  const feed: FeedPackage[] = [
    simple('needs-absent', { fields: { Depends: 'libc, no-such-thing' } }),
    simple('needs-newer', { fields: { Depends: 'libdemo (>= 9.0)' } }),
    simple('needs-it-deep', { fields: { Depends: 'needs-absent' } }),
    simple('excludes', { fields: { Conflicts: 'libdemo' } }),
    simple('huge', { installedSizeBytes: 1e15 }),
    simple('foreign', { architecture: 'mips_24kc' }),
    simple('needs-foreign', { fields: { Depends: 'foreign' } }),
    simple('kernel', { version: '6.6.90~aaaa-r1' }),
    simple('kmod-other', { fields: { Depends: 'kernel (= 6.6.86~bbbb-r1)' } }),
    simple('app-needs-kmod', { fields: { Depends: 'kmod-other' } }),
  ];
  const cases: [string, string, string, string | undefined, string][] = [
    ['not_found', 'install', 'nowhere', 'nowhere', 'no feed offers it'],
    ['not_found', 'remove', 'demo', 'demo', 'it is not installed'],
    ['not_found', 'upgrade', 'demo', 'demo', 'it is not installed'],
    ['dependency_missing', 'install', 'needs-absent', 'needs-absent', 'no-such-thing'],
    ['dependency_missing', 'install', 'needs-it-deep', 'needs-absent', 'no-such-thing'],
    ['dependency_missing', 'install', 'needs-newer', 'needs-newer', 'only 1.0-1'],
    ['dependency_conflict', 'install', 'excludes', 'excludes', 'conflicts with libdemo'],
    ['no_space', 'install', 'huge', 'huge', 'needs 909.49 TiB'],
    ['wrong_architecture', 'install', 'foreign', 'foreign', 'mips_24kc'],
    ['wrong_architecture', 'install', 'needs-foreign', 'foreign', 'only for mips_24kc'],
    ['kernel_mismatch', 'install', 'kmod-other', 'kmod-other', '6.6.90~aaaa-r1'],
    ['kernel_mismatch', 'install', 'app-needs-kmod', 'kmod-other', '6.6.86~bbbb-r1'],
    ['needed_by', 'remove', 'libdemo', 'libdemo', 'notes-app needs it'],
    ['essential', 'remove', 'libc', 'libc', 'does not start without it'],
    ['held', 'upgrade', 'libonce', 'libonce', 'held at 1.0-1'],
  ];

  test(`a table of ${cases.length}, and the task fails for each with the same code`, async () => {
    store = await openStore({ packages: feed });
    await store.run('install', { package: 'notes' });
    await store.run('install', { package: 'kernel' });
    await store.device.opkg('flag', 'hold', 'libonce');
    store.device.publish(2);
    store.device.feed.publish([...feed, simple('libonce', { version: '2.0-1' }), LIBDEMO]);
    await store.device.opkg('update');
    for (const [code, operation, name, subject, text] of cases) {
      const plan = await planOf(store.daemon, operation, name);
      const said = { operation, name, plan };
      expect({ ...said, codes: plan.problems.map((problem) => problem.code) }).toEqual({
        ...said,
        codes: [code],
      });
      expect(plan.problems[0]?.package).toBe(subject);
      expect(plan.problems[0]?.message).toContain(text);
      expect(plan.is_possible).toBe(false);
      const before = await store.packages();
      const task = await store.run(operation, { package: name });
      expect({ name, state: task.state, code: task.error_code }).toEqual({
        name,
        state: 'failed',
        code,
      });
      expect(await store.packages()).toEqual(before);
    }
  }, 120_000);

  const LIBDEMO = simple('libdemo', { architecture: 'x86_64' });

  test('a status file that is damaged, without a copy', async () => {
    store = await openStore();
    const { root } = store.device;
    const copy = join(root, 'etc/depotd/opkg-status.before.gz');
    // It is made at the start, by and by.
    await expect.poll(() => existsSync(copy), { timeout: 10_000 }).toBe(true);
    await rm(copy);
    await mkdir(join(root, 'usr/lib/opkg'), { recursive: true });
    await writeFile(join(root, 'usr/lib/opkg/status'), 'Package: libc\nVersion: 1');

    const plan = await planOf(store.daemon, 'install', 'demo');

    expect(plan.problems.map(({ code }) => code)).toEqual(['damaged_database']);
    expect(plan.is_possible).toBe(false);
  });
});
