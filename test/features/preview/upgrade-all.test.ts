import { afterEach, describe, expect, test } from 'vitest';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FeedPackage } from '../../device/feed-index.ts';
import { appPackages } from '../../device/packages/packages.ts';
import { openStore, type Store } from '../packages/open-store.ts';
import { changesIn, planOf } from './preview-answer.ts';

let store: Store;
afterEach(() => store.close());

describe('upgrade of all', () => {
  test('apps and what came with them, neither the image nor what is held', async () => {
    store = await openStore({ packages: versions('1.0-1') });
    for (const name of ['demo', 'wanted', 'held', 'from-image']) {
      await store.run('install', { package: name });
    }
    await store.device.opkg('flag', 'hold', 'held');
    const { root } = store.device;
    await mkdir(join(root, 'rom/usr/lib/opkg'), { recursive: true });
    await writeFile(
      join(root, 'rom/usr/lib/opkg/status'),
      'Package: libc\nVersion: 1\nStatus: install ok installed\n\n' +
        'Package: from-image\nVersion: 1.0-1\nStatus: install user installed\n\n',
    );
    store.device.publish(2);
    await republish(store, '2.0-1');

    const plan = await planOf(store.daemon, 'upgrade');

    expect(plan).toMatchObject({ is_possible: true, problems: [] });
    expect(plan.left).toEqual(
      expect.arrayContaining([
        { name: 'from-image', reason: 'firmware' },
        { name: 'held', reason: 'held' },
      ]),
    );
    // As many as opkg itself counts, less those that are left.
    const newer = (await store.device.opkg('list-upgradable')).stdout.trim().split('\n');
    expect(newer.length).toBe(plan.upgrades.length + plan.left.length);
    expect(changesIn(plan)).toEqual({
      installs: [],
      upgrades: ['app-meta-demo 1.1-1', 'demo-app 1.1-1', 'libdemo 1.0-2', 'wanted 2.0-1'],
      removes: [],
    });
    const before = await store.packages();
    const done = await store.run('upgrade', { all: 'true' });
    expect(done).toMatchObject({ state: 'done', kind: 'upgrade' });
    expect(await store.packages()).toEqual({
      ...before,
      'app-meta-demo': '1.1-1',
      'demo-app': '1.1-1',
      libdemo: '1.0-2',
      wanted: '2.0-1',
    });
    const again = await store.run('upgrade', { all: 'true' });
    expect(again).toMatchObject({ state: 'done' });
    expect(again.log).toContain('nothing to do');
    expect(again.log).toContain('left as it is, since it comes with the next firmware: from-image');
  });

  test('an upgrade of an app takes along what came with it, and not what else needs the same', async () => {
    store = await openStore();
    await store.run('install', { package: 'demo-app' });
    expect(await store.packages()).toMatchObject({ libdemo: '1.0-1' });
    store.device.publish(2);
    await store.device.opkg('update');
    await store.device.opkg('upgrade', 'demo-app');
    expect(await store.packages()).toMatchObject({ 'demo-app': '1.1-1', libdemo: '1.0-1' });

    const plan = await planOf(store.daemon, 'upgrade', 'demo-app');

    expect(changesIn(plan).upgrades).toEqual(['libdemo 1.0-2']);
    expect(await store.run('upgrade', { package: 'demo-app' })).toMatchObject({ state: 'done' });
    expect(await store.packages()).toMatchObject({ libdemo: '1.0-2' });
    // It is still what came with something else, and goes with it.
    await store.run('remove', { package: 'demo-app' });
    expect(await store.packages()).toEqual({});
  });

  test.each<[string, Record<string, string>]>([
    ['of it by its name', { package: 'dropper' }],
    ['of all', { all: 'true' }],
  ])('an upgrade %s does not bring back what its new version needs no more', async (_, params) => {
    store = await openStore({ packages: dropping('1.0-1') });
    await store.run('install', { package: 'dropper' });
    expect(Object.keys(await store.packages())).toEqual(['a-dropped', 'dropper']);
    store.device.feed.publish(dropping('2.0-1'));
    await store.device.opkg('update');

    expect(await store.run('upgrade', params)).toMatchObject({ state: 'done' });

    expect(await store.packages()).toEqual({ dropper: '2.0-1' });
  });

  test('one that cannot be upgraded keeps none of the others', async () => {
    store = await openStore({ packages: versions('1.0-1') });
    for (const name of ['wanted', 'held']) await store.run('install', { package: name });
    await republish(store, '2.0-1', { held: 'no-such-thing' });

    const plan = await planOf(store.daemon, 'upgrade');

    expect(changesIn(plan).upgrades).toEqual(['wanted 2.0-1']);
    expect(plan.is_possible).toBe(true);
    expect(plan.problems.map(({ code, package: name }) => [code, name])).toEqual([
      ['dependency_missing', 'held'],
    ]);
    expect(await store.run('upgrade', { all: 'true' })).toMatchObject({ state: 'done' });
    expect(await store.packages()).toMatchObject({ wanted: '2.0-1', held: '1.0-1' });
  });

  test('what was left half installed by hand is named, and finished by its name', async () => {
    store = await openStore({ packages: versions('1.0-1') });
    await store.run('install', { package: 'wanted' });
    const postinst = '#!/bin/sh\n[ -e "$IPKG_INSTROOT/etc/is-mended" ]\n';
    store.device.feed.publish(
      versions('2.0-1').map((source) => ({ ...source, scripts: { postinst } })),
    );
    await store.device.opkg('update');
    // Nobody takes back what was done by hand.
    expect((await store.device.opkg('upgrade', 'wanted')).code).not.toBe(0);

    const again = await store.run('upgrade', { all: 'true' });

    expect([again.state, again.log]).toEqual([
      'done',
      expect.stringContaining('left as it is: wanted is not fully installed'),
    ]);
    await writeFile(join(store.device.root, 'etc/is-mended'), '');
    expect(await store.run('upgrade', { package: 'wanted' })).toMatchObject({ state: 'done' });
    expect(await store.packages()).toMatchObject({ wanted: '2.0-1' });
  });
});

const NAMES = ['wanted', 'held', 'from-image'];

function versions(version: string, depends: Record<string, string> = {}): FeedPackage[] {
  return NAMES.map((name) => ({
    name,
    version,
    architecture: 'all',
    ...(depends[name] === undefined ? {} : { fields: { Depends: depends[name] } }),
  }));
}

async function republish(
  { device }: Store,
  version: string,
  depends: Record<string, string> = {},
): Promise<void> {
  device.feed.publish([...appPackages(2), ...versions(version, depends)]);
  await device.opkg('update');
}

/** Version 2 does not need the other any more. */
function dropping(version: string): FeedPackage[] {
  const depends = version === '1.0-1' ? 'a-dropped' : 'libc';
  return [
    { name: 'a-dropped', version, architecture: 'all' },
    { name: 'dropper', version, architecture: 'all', fields: { Depends: depends } },
  ];
}
