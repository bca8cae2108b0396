import { readdir, stat, utimes } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import { openApkStore } from '../../package-management/apk/open-store.ts';
import { openStore } from './open-store.ts';

const FETCHED = 'nothing newer is in the lists of the feeds, which are over a week old';
const DAY_S = 86_400;

/** A device with the first versions of two apps, whose feed has the second. */
async function openBehind(manager: string) {
  const store = await (manager === 'opkg' ? openStore() : openApkStore());
  onTestFinished(() => store.close());
  for (const name of ['demo', 'notes']) await store.run('install', { package: name });
  store.device.publish(2);
  const folder = join(store.device.root, manager === 'opkg' ? 'var/opkg-lists' : 'var/cache/apk');
  const lists = async (): Promise<string[]> =>
    (await readdir(folder)).map((name) => join(folder, name));
  return {
    store,
    /** The folder of the lists, and of copies of them. */
    folders: async () =>
      (await readdir(dirname(folder))).filter((name) => name.startsWith(basename(folder))),
    /** Makes the lists so many days old. */
    age: async (days: number) => {
      const then = Date.now() / 1000 - days * DAY_S;
      for (const file of await lists()) await utimes(file, then, then);
    },
    /** What an upgrade does: whether it fetches lists, the version that is there, their days. */
    upgrade: async (form: Readonly<Record<string, string>>, app = 'notes') => {
      const { state, log } = await store.run('upgrade', form);
      const [list = ''] = await lists();
      const days = Math.round((Date.now() - (await stat(list)).mtimeMs) / 1000 / DAY_S);
      const version = String((await store.statusOf(app)).version).replace(/-r?\d$/, '');
      const hasDone = !log.includes('nothing to do');
      return { state, fetches: log.includes(FETCHED), hasDone, version, days };
    },
  };
}

describe.each(['opkg', 'apk'])('with %s an upgrade that finds nothing newer', (manager) => {
  test('fetches lists of over a week ago, whoever asks, and no others', async () => {
    const { age, upgrade } = await openBehind(manager);
    const done = { state: 'done', fetches: false, hasDone: true, version: '1.1' };

    await age(1);
    const idle = { ...done, hasDone: false, version: '1.0', days: 1 };
    expect(await upgrade({ package: 'notes' })).toEqual(idle);
    await age(8);
    const fetched = { ...done, fetches: true, days: 0 };
    expect(await upgrade({ package: 'notes' })).toEqual(fetched);
    // What a plan has shown is done by the lists that it was made of.
    await age(8);
    expect(await upgrade({ all: 'true' }, 'demo')).toEqual({ ...done, days: 8 });
    expect(await upgrade({ all: 'true' })).toEqual({ ...fetched, hasDone: false });
  });

  test('fetches lists that were dated by a clock far ahead', async () => {
    const { age, upgrade } = await openBehind(manager);
    await age(-8);
    const fetched = { state: 'done', fetches: true, version: '1.1', days: 0 };
    expect(await upgrade({ package: 'notes' })).toMatchObject(fetched);
  });

  test('goes by the old lists if they cannot be fetched, and they stay', async () => {
    const { store, age, upgrade } = await openBehind(manager);
    await age(8);
    await store.device.feed.refuse();
    const idle = { state: 'done', fetches: true, hasDone: false, version: '1.0', days: 8 };

    expect(await upgrade({ package: 'notes' })).toEqual(idle);
    expect(await upgrade({ all: 'true' })).toEqual(idle);

    await store.device.feed.listen();
    expect(await upgrade({ all: 'true' })).toMatchObject({ hasDone: true, version: '1.1' });
  });
});

test('one that is stopped while it fetches lists leaves the old ones, and no copy of them', async () => {
  const { store, age, folders, upgrade } = await openBehind('opkg');
  await age(8);
  store.device.feed.misbehave('Packages.gz', 'stalled');
  const asked = store.device.feed.requests('Packages.gz');
  const task = await store.daemon.submit('upgrade', { all: 'true' });
  await expect
    .poll(() => store.device.feed.requests('Packages.gz'), { timeout: 10_000 })
    .toBeGreaterThan(asked);

  await store.daemon.post('admin/system/tasks/stop', { task_id: task });

  expect((await store.daemon.finished(task)).state).toBe('stopped');
  expect(await folders()).toEqual(['opkg-lists']);
  store.device.feed.behave();
  expect(await upgrade({ all: 'true' })).toMatchObject({ fetches: true, version: '1.1' });
});
