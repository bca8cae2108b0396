import { afterEach, describe, expect, test } from 'vitest';

import { createApkDevice } from '../../device/apk-device/apk-device.ts';
import { createApkFeedFiles, INDEX_NAME } from '../../device/apk-device/apk-index.ts';
import { startDaemon, type TestDaemon } from '../../device/daemon.ts';
import { createDevice } from '../../device/device.ts';
import { createFeedFiles } from '../../device/feed-index.ts';
import { createFeedOf, type Feed } from '../../device/feed.ts';
import { changesIn, planOf } from '../preview/preview-answer.ts';
import { change, feedOf } from './feed-answer.ts';

let closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.reverse()) await close();
  closing = [];
});

interface Owned {
  name: string;
  version: string;
  depends?: string[];
}

interface Host {
  daemon: TestDaemon;
  mine: Feed;
  publish: (packages: Owned[]) => void;
  versionOf: (name: string) => Promise<string | undefined>;
}

const FILES = {
  opkg: (packages: Owned[]) =>
    createFeedFiles(
      packages.map(({ depends = [], ...each }) => ({
        ...{ ...each, architecture: 'all' },
        fields: { Depends: ['libc', ...depends].join(', ') },
      })),
    ),
  apk: (packages: Owned[]) => createApkFeedFiles(packages.map((each) => ({ ...each, files: {} }))),
};

/** The owner's own feed beside that of the firmware, whose version 2 is published later. */
async function open(kind: 'opkg' | 'apk', packages: Owned[]): Promise<Host> {
  const device = kind === 'opkg' ? await createDevice() : await createApkDevice();
  closing.push(() => device.close());
  const daemon = await startDaemon(device);
  closing.push(() => daemon.close());
  const mine = await createFeedOf(FILES[kind](packages));
  closing.push(() => mine.close());
  const url = kind === 'opkg' ? mine.url : `${mine.url}/${INDEX_NAME}`;
  expect((await change(daemon, 'update', {})).state).toBe('done');
  expect((await change(daemon, 'add_feed', { name: 'mine', url })).error).toBeUndefined();
  return {
    daemon,
    mine,
    publish: (next) => {
      mine.publishFiles(FILES[kind](next));
      device.publish(2);
    },
    versionOf: async (name) => (await device.database()).get(name)?.version,
  };
}

async function upgradable({ get }: TestDaemon): Promise<string[]> {
  const answer = await get('admin/store/available?state=upgradable&kind=package&per_page=100');
  const { items } = (await answer.json()) as { items: { name: string }[] };
  return items.map(({ name }) => name);
}

describe.each(['opkg', 'apk'] as const)('with %s, of a feed set to give no upgrades', (kind) => {
  const [old, next] = kind === 'opkg' ? ['1.0-1', '2.0-1'] : ['1.0-r1', '2.0-r1'];

  test('nothing newer comes, and that is said; installs come, and the note can be undone', async () => {
    const { daemon, publish, versionOf } = await open(kind, [{ name: 'own-tool', version: old }]);
    for (const name of ['own-tool', 'libdemo']) {
      expect((await change(daemon, 'install', { package: name })).state).toBe('done');
    }
    publish([
      { name: 'own-tool', version: next },
      { name: 'other-tool', version: next },
    ]);
    await change(daemon, 'update', {});
    expect(await upgradable(daemon)).toEqual(['libdemo', 'own-tool']);

    const task = await daemon.submit('set_feed', { name: 'mine', upgrades: '0' });
    expect(await daemon.finished(task)).toMatchObject({ state: 'done' });

    expect(await feedOf(daemon, 'mine')).toMatchObject({ enabled: true, upgrades: false });
    expect(await upgradable(daemon)).toEqual(['libdemo']);
    const left = [{ name: 'own-tool', reason: 'feed', feed: 'mine' }];
    const all = await planOf(daemon, 'upgrade');
    expect(all).toMatchObject({ left, is_possible: true });
    expect(changesIn(all).upgrades).toHaveLength(1);
    const one = await planOf(daemon, 'upgrade', 'own-tool');
    expect(one).toMatchObject({ left, upgrades: [], problems: [] });
    for (const params of [{ package: 'own-tool' }, { all: 'true' }]) {
      const id = await daemon.submit('upgrade', params);
      expect((await daemon.finished(id)).error).toBeUndefined();
      expect(await daemon.logOf(id)).toContain(
        'left as it is, since its feed is set to give no upgrades: own-tool (mine)',
      );
      expect(await versionOf('own-tool')).toBe(old);
    }
    expect((await change(daemon, 'install', { package: 'other-tool' })).state).toBe('done');

    await daemon.restart();
    expect(await upgradable(daemon)).toEqual([]);
    expect((await change(daemon, 'undo', { task_id: task })).error).toBeUndefined();
    expect(await upgradable(daemon)).toEqual(['own-tool']);
    expect((await change(daemon, 'upgrade', { package: 'own-tool' })).state).toBe('done');
    expect(await versionOf('own-tool')).toBe(next);
  });

  test('nothing newer comes as a dependency of another feed either', async () => {
    const needs = kind === 'opkg' ? `own-lib (>= ${next})` : `own-lib>=${next}`;
    const { daemon, mine, publish, versionOf } = await open(kind, [
      { name: 'own-lib', version: old },
    ]);
    const second = await createFeedOf(
      FILES[kind]([{ name: 'caller', version: old, depends: ['own-lib'] }]),
    );
    closing.push(() => second.close());
    const url = kind === 'opkg' ? second.url : `${second.url}/${INDEX_NAME}`;
    await change(daemon, 'add_feed', { name: 'second', url });
    expect((await change(daemon, 'install', { package: 'caller' })).state).toBe('done');
    publish([{ name: 'own-lib', version: next }]);
    second.publishFiles(FILES[kind]([{ name: 'caller', version: next, depends: [needs] }]));
    expect(mine.requests()).toBeGreaterThan(0);
    await change(daemon, 'update', {});
    await change(daemon, 'set_feed', { name: 'mine', upgrades: '0' });

    const id = await daemon.submit('upgrade', { package: 'caller' });

    expect((await daemon.finished(id)).state).toBe('done');
    expect(await daemon.logOf(id)).toMatch(/no upgrades: .*caller \(mine\)/);
    expect([await versionOf('caller'), await versionOf('own-lib')]).toEqual([old, old]);
    await change(daemon, 'set_feed', { name: 'mine', upgrades: '1' });
    expect((await change(daemon, 'upgrade', { package: 'caller' })).state).toBe('done');
    expect([await versionOf('caller'), await versionOf('own-lib')]).toEqual([next, next]);
  });

  test('the note goes with the feed, and without a change the request is refused', async () => {
    const { daemon, mine } = await open(kind, [{ name: 'own-tool', version: old }]);
    expect((await daemon.post('admin/store/set_feed', { name: 'mine' })).status).toBe(400);
    await change(daemon, 'set_feed', { name: 'mine', upgrades: '0' });
    await change(daemon, 'remove_feed', { name: 'mine' });
    const url = kind === 'opkg' ? mine.url : `${mine.url}/${INDEX_NAME}`;
    await change(daemon, 'add_feed', { name: 'mine', url });
    expect((await feedOf(daemon, 'mine'))?.upgrades).toBeUndefined();
  });
});
