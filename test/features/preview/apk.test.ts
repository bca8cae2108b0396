import { afterEach, describe, expect, test } from 'vitest';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ApkFeedPackage } from '../../device/apk-device/apk-index.ts';
import { openApkStore, type ApkStore } from '../../package-management/apk/open-store.ts';
import { treeSnapshot } from '../../support/tree-snapshot.ts';
import { changesIn, planOf } from './preview-answer.ts';

let store: ApkStore;
afterEach(() => store.close());

const simple = (name: string, more: Partial<ApkFeedPackage> = {}): ApkFeedPackage => ({
  name,
  version: '1.0-r1',
  ...more,
});

test('a plan says what comes and goes, and the tasks do just that', async () => {
  store = await openApkStore();
  const plan = await planOf(store.daemon, 'install', 'demo');

  expect(plan).toMatchObject({ problems: [], is_possible: true, upgrades: [], removes: [] });
  expect(plan.installs.map(({ name, reason }) => `${name} ${reason}`).sort()).toEqual([
    'app-meta-demo asked',
    'demo-app dependency',
    'libdemo dependency',
  ]);
  expect(plan.download_bytes).toBeGreaterThan(0);
  await store.run('install', { package: 'demo' });
  const planned = plan.installs.map(({ name, version }) => [name, version]);
  expect(await store.packages()).toEqual(Object.fromEntries(planned));

  const removal = await planOf(store.daemon, 'remove', 'demo');
  expect(removal.removes.map(({ name, reason }) => `${name} ${reason}`).sort()).toEqual([
    'app-meta-demo asked',
    'demo-app orphan',
    'libdemo orphan',
  ]);
  expect(removal.disk_bytes).toBe(-plan.disk_bytes);
  await store.run('remove', { package: 'demo' });
  expect(await store.packages()).toEqual({});
});

test('a plan changes no file of the device, and fetches nothing', async () => {
  store = await openApkStore();
  await store.run('install', { package: 'notes' });
  await store.recordsCopied();
  const tree = await treeSnapshot(store.device.root);
  const requests = store.device.feed.requests();
  for (const operation of ['install', 'remove', 'upgrade']) {
    await planOf(store.daemon, operation, 'demo', 'notes', 'absent');
  }
  await planOf(store.daemon, 'upgrade');
  expect(await treeSnapshot(store.device.root)).toEqual(tree);
  expect(store.device.feed.requests()).toBe(requests);
});

describe('each problem has its code', () => {
  const feed: ApkFeedPackage[] = [
    simple('needs-absent', { depends: ['no-such-thing'] }),
    simple('needs-it-deep', { depends: ['needs-absent'] }),
    simple('needs-newer', { depends: ['libdemo>=9.0'] }),
    simple('excludes', { depends: ['!libdemo'] }),
    simple('huge', { installedSizeBytes: 1e14 }),
    simple('foreign', { architecture: 'mips_24kc' }),
    simple('needs-foreign', { depends: ['foreign'] }),
    simple('kernel', { version: '6.6.90-r1' }),
    simple('kmod-other', { depends: ['kernel=6.6.86-r1'] }),
    simple('app-needs-kmod', { depends: ['kmod-other'] }),
    simple('one-way', { provides: ['either'] }),
    simple('other-way', { provides: ['either'] }),
    simple('needs-either', { depends: ['either'] }),
    simple('pinned'),
  ];
  const cases: [string, string, string, string | undefined][] = [
    ['not_found', 'install', 'nowhere', 'nowhere'],
    ['not_found', 'remove', 'demo', 'demo'],
    ['not_found', 'upgrade', 'demo', 'demo'],
    ['dependency_missing', 'install', 'needs-absent', 'needs-absent'],
    ['dependency_missing', 'install', 'needs-it-deep', 'needs-absent'],
    ['dependency_missing', 'install', 'needs-newer', 'needs-newer'],
    ['dependency_missing', 'install', 'needs-either', 'either'],
    ['dependency_conflict', 'install', 'excludes', 'excludes'],
    ['no_space', 'install', 'huge', undefined],
    ['wrong_architecture', 'install', 'foreign', 'foreign'],
    ['wrong_architecture', 'install', 'needs-foreign', 'foreign'],
    ['kernel_mismatch', 'install', 'kmod-other', 'kmod-other'],
    ['kernel_mismatch', 'install', 'app-needs-kmod', 'kmod-other'],
    ['needed_by', 'remove', 'libdemo', 'libdemo'],
    ['essential', 'remove', 'libc', 'libc'],
    ['held', 'upgrade', 'pinned', 'pinned'],
  ];

  test(`a table of ${cases.length}, and the task fails for each with the same code`, async () => {
    store = await openApkStore({ packages: feed });
    await store.run('install', { package: 'notes' });
    await store.run('install', { package: 'kernel' });
    await store.device.apk('add', 'pinned=1.0-r1');
    store.device.publishPackages([...feed.slice(0, -1), simple('pinned', { version: '2.0-r1' })]);
    await store.device.apk('update');
    for (const [code, operation, name, subject] of cases) {
      const plan = await planOf(store.daemon, operation, name);
      const said = { operation, name, plan };
      expect({ ...said, codes: plan.problems.map((problem) => problem.code) }).toEqual({
        ...said,
        codes: [code],
      });
      expect([name, plan.problems[0]?.package]).toEqual([name, subject]);
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
  }, 180_000);

  test('an upgrade that another package keeps back is a conflict for plan and task', async () => {
    const user = simple('user', { depends: ['lib=1.0-r1'] });
    store = await openApkStore({ packages: [user, simple('lib')] });
    await store.run('install', { package: 'user' });
    store.device.publishPackages([user, simple('lib', { version: '2.0-r1' })]);
    await store.device.apk('update');

    const plan = await planOf(store.daemon, 'upgrade', 'lib');
    const task = await store.run('upgrade', { package: 'lib' });

    expect(plan.problems.map(({ code }) => code)).toEqual(['dependency_conflict']);
    expect(task).toMatchObject({ state: 'failed', error_code: 'dependency_conflict' });
    expect(task.error).toBe(
      'cannot upgrade lib: what else is installed keeps it back: it stays at 1.0-r1, 2.0-r1 is ' +
        'offered',
    );
  });

  test('an empty world is damage', async () => {
    store = await openApkStore();
    await writeFile(join(store.device.root, 'etc/apk/world'), '');
    const plan = await planOf(store.daemon, 'install', 'demo');
    expect(plan.problems.map(({ code }) => code)).toEqual(['damaged_database']);
    expect(plan.is_possible).toBe(false);
  });
});

test('all are upgraded but what is pinned, with what came with apps, also if a feed is dead', async () => {
  const version = (text: string): ApkFeedPackage[] => [
    simple('wanted', { version: text }),
    simple('pinned', { version: text }),
  ];
  store = await openApkStore({ packages: version('1.0-r1') });
  for (const name of ['demo', 'wanted']) await store.run('install', { package: name });
  await store.device.apk('add', 'pinned=1.0-r1');
  store.device.publishPackages(version('2.0-r1'), 2);
  await store.device.apk('update');
  await addDeadFeed(store.device.root);

  const plan = await planOf(store.daemon, 'upgrade');

  expect(plan).toMatchObject({ is_possible: true, problems: [] });
  expect(changesIn(plan).upgrades).toEqual([
    'app-meta-demo 1.1-r1',
    'demo-app 1.1-r1',
    'libdemo 1.0-r2',
    'wanted 2.0-r1',
  ]);
  const before = await store.packages();
  expect(await store.run('upgrade', { all: 'true' })).toMatchObject({ state: 'done' });
  expect(await store.packages()).toEqual({
    ...before,
    'app-meta-demo': '1.1-r1',
    'demo-app': '1.1-r1',
    libdemo: '1.0-r2',
    wanted: '2.0-r1',
  });
  const again = await store.run('upgrade', { all: 'true' });
  expect(again.log).toContain('nothing to do');
});

async function addDeadFeed(root: string): Promise<void> {
  const folder = join(root, 'etc/apk/repositories.d');
  const [file = 'customfeeds.list'] = await readdir(folder);
  const text = await readFile(join(folder, file), 'utf8').catch(() => '');
  await rm(join(folder, 'dead.list'), { force: true });
  await writeFile(
    join(folder, 'dead.list'),
    'http://127.0.0.1:1/' + (text.trim().split('/').at(-1) ?? 'packages.adb') + '\n',
  );
}
