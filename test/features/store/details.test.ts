import { readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import type { Details, Item } from '../../../src/features/store/documentation.ts';
import type { FeedPackage } from '../../device/feed-index.ts';
import { clientOf } from './client-of.ts';
import { MANAGERS, openStores, versionFor, type EitherStore, type Manager } from './open-stores.ts';

const FURTHER: FeedPackage[] = [
  {
    name: 'relations',
    version: '2.0-1',
    architecture: 'all',
    fields: {
      Depends: 'libc, libdemo',
      Provides: 'relative',
      Conflicts: 'enemy-of-mine',
      License: 'GPL-2.0',
      Description: `Long: ${'word '.repeat(400)}`,
    },
  },
  { name: 'demo', version: '1.0-1', architecture: 'all' },
];

let stores: Record<Manager, EitherStore>;
const installTasks = new Map<Manager, string>();

beforeAll(async () => {
  stores = await openStores(FURTHER);
  for (const manager of MANAGERS) {
    installTasks.set(manager, (await stores[manager].run('install', { package: 'demo' })).id);
    // Right behind it, so that only what they say they changed tells which of them it was.
    await stores[manager].run('update');
  }
}, 60_000);
afterAll(async () => {
  for (const manager of MANAGERS) await stores[manager].close();
});

async function detailsBy(manager: Manager, query: Record<string, string>): Promise<Details> {
  const text = new URLSearchParams(query).toString();
  const answer = await stores[manager].daemon.get(`admin/store/details?${text}`);
  expect(answer.status).toBe(200);
  return (await answer.json()) as Details;
}

describe.each(MANAGERS)('%s', (manager) => {
  const version = (text: string): string => versionFor(manager, text);
  const detailsOf = (name: string): Promise<Details> => detailsBy(manager, { package: name });

  test('of an app everything is told, with the packages that it names', async () => {
    const details = await detailsOf('demo');

    expect(details).toMatchObject({
      name: 'demo',
      kind: 'app',
      title: 'Demo',
      version: version('1.0-1'),
      installed_version: version('1.0-1'),
      versions: [{ version: version('1.0-1') }],
      required_by: [],
      homepage: 'https://example.invalid/demo',
      license: 'MIT',
      config: ['/etc/config/demo-app'],
      services: ['demo-app'],
      task_id: installTasks.get(manager),
    });
    expect(details.depends).toEqual(expect.arrayContaining([['libc'], ['demo-app']]));
    expect(details.installed_at).toBeGreaterThan(1_700_000_000);
    expect(details.files?.count).toBeGreaterThanOrEqual(7);
    expect(details.files?.bytes).toBeGreaterThan(500);
  });

  test('of a package: who needs it, and by which task it came', async () => {
    const details = await detailsOf('libdemo');

    expect(details).toMatchObject({ name: 'libdemo', kind: 'package', is_auto: true });
    expect(details.required_by).toContain('demo-app');
    expect(details.task_id).toBe(installTasks.get(manager));
    expect((await detailsOf('demo-app')).services).toEqual(['demo-app']);
  });

  test('of what is not installed the best version is described, in full', async () => {
    const details = await detailsOf('relations');

    expect(details).toMatchObject({
      version: version('2.0-1'),
      depends: [['libc'], ['libdemo']],
      provides: ['relative'],
      conflicts: ['enemy-of-mine'],
      license: 'GPL-2.0',
      required_by: [],
    });
    // apk's own tools cut a description at 512 bytes.
    expect(details.description.length).toBeGreaterThan(manager === 'opkg' ? 1900 : 500);
    expect(details).not.toHaveProperty('files');
    expect(details).not.toHaveProperty('task_id');
  });

  test('an app comes before the package of its name, which is there by its kind', async () => {
    expect((await detailsOf('demo')).kind).toBe('app');
    expect((await detailsBy(manager, { package: 'demo', kind: 'package' })).kind).toBe('package');
    expect(await detailsOf('app-meta-demo')).toMatchObject({ name: 'demo', kind: 'app' });
  });

  test.each([
    ['package=nosuch', 404],
    ['package=app-meta-nosuch', 404],
    ['package=libdemo&kind=app', 404],
    ['package=..%2Fetc', 400],
    ['package=', 400],
    ['package=demo&kind=all', 400],
    ['', 400],
  ])('%s is %i', async (query, status) => {
    expect((await stores[manager].daemon.get(`admin/store/details?${query}`)).status).toBe(status);
  });
});

describe.each(MANAGERS)('%s, as the device changes', (manager) => {
  const version = (text: string): string => versionFor(manager, text);
  const detailsOf = (name: string): Promise<Details> => detailsBy(manager, { package: name });
  const { pageOf, namesOf } = clientOf(() => stores[manager]);

  test('an installed app is found by what it says in English, and keeps its description', async () => {
    const folder = manager === 'opkg' ? 'usr/lib/opkg/meta' : 'lib/apk/meta';
    const file = join(stores[manager].device.root, folder, 'demo.json');
    const before = await readFile(file, 'utf8');
    onTestFinished(() => writeFile(file, before));
    const english = 'Shows the tides of any harbour';
    await writeFile(file, JSON.stringify({ ...JSON.parse(before), description_en: english }));

    await expect.poll(() => namesOf({ q: 'harbour TIDES' })).toEqual(['demo']);
    expect((await pageOf({ q: 'tides' })).items).toMatchObject([
      { title: 'Demo', description: 'demo for tests', description_en: english },
    ]);
  });

  test('no link leads out of the device, and what is gone does not count', async () => {
    const { device } = stores[manager];
    const before = await detailsOf('demo-app');
    const program = join(device.root, 'usr/bin/demo-app');
    const content = await device.read('usr/bin/demo-app');
    await rm(program);
    onTestFinished(async () => {
      await rm(program, { force: true });
      await writeFile(program, content ?? '', { mode: 0o755 });
    });

    const without = await detailsOf('demo-app');
    await symlink(process.execPath, program);
    const asLink = await detailsOf('demo-app');

    expect(without.files?.count).toBe((before.files?.count ?? 0) - 1);
    expect(asLink.files?.count).toBe(before.files?.count);
    expect(asLink.files?.bytes).toBe(without.files?.bytes);
  });

  test('a newer version is seen after an update, and gone after the upgrade', async () => {
    const { daemon, run, device } = stores[manager];
    const upgradable = async (): Promise<Item[]> => {
      const answer = await daemon.get(
        'admin/store/available?kind=all&state=upgradable&per_page=200',
      );
      return ((await answer.json()) as { items: Item[] }).items;
    };
    expect(await upgradable()).toEqual([]);

    device.publish(2);
    await run('update');
    const found = await upgradable();

    expect(found.map(({ name, kind }) => `${kind} ${name}`)).toEqual([
      ...['app demo', 'package demo-app', 'package libdemo'],
    ]);
    expect(found[1]).toMatchObject({
      version: version('1.1-1'),
      installed_version: version('1.0-1'),
    });
    expect((await detailsOf('demo')).versions).toMatchObject([{ version: version('1.1-1') }]);
    const { id } = await run('upgrade', { package: 'demo' });
    expect((await upgradable()).map(({ name }) => name)).not.toContain('demo');
    expect((await detailsOf('demo')).task_id).toBe(id);
  });
});
