import { describe, expect, test } from 'vitest';

import { openApkStore } from './apk/open-store.ts';
import { openStore } from '../features/packages/open-store.ts';
import type { StoreActions } from '../features/packages/store-actions.ts';
import type { TestDaemon } from '../device/daemon.ts';
import { aroundTests } from '../support/around-tests.ts';

interface Store extends StoreActions {
  readonly daemon: TestDaemon;
  readonly packages: () => Promise<Record<string, string | undefined>>;
  readonly close: () => Promise<void>;
}

let store: Store;

describe.each([
  {
    manager: 'opkg',
    newer: ['1.1-1', '1.0-1'],
    open: async () => {
      const opened = await openStore();
      const publish = (): void => opened.device.publish(2);
      const wish = async () =>
        /^Status: .*$/m.exec(paragraphOf(await opened.device.read('usr/lib/opkg/status')))?.[0];
      return { store: opened, publish, wish };
    },
    wishes: ['Status: install user installed', 'Status: install hold installed'],
  },
  {
    manager: 'apk',
    newer: ['1.1-r1', '1.0-r1'],
    open: async () => {
      const opened = await openApkStore();
      const publish = (): void => opened.device.publish(2);
      const wish = async () => (await opened.device.world()).join(' ');
      return { store: opened, publish, wish };
    },
    wishes: [
      'app-meta-demo base-files busybox libc',
      'app-meta-demo=1.0-r1 base-files busybox demo-app=1.0-r1 libc',
    ],
  },
])('on $manager', ({ open, newer: [newer, older], wishes: [free, held] }) => {
  let opened: Awaited<ReturnType<typeof open>>;
  const nothingChanged = aroundTests(
    async () => {
      opened = await open();
      ({ store } = opened);
    },
    () => store.close(),
  );

  test('what is not installed can be neither held nor let go', async () => {
    for (const operation of ['hold', 'release']) {
      const answer = await store.daemon.post(`admin/store/${operation}`, { package: 'demo' });
      expect([answer.status, await answer.json()]).toEqual([
        404,
        expect.objectContaining({ msg: `cannot ${operation} demo: it is not installed` }),
      ]);
    }
    nothingChanged();
  });

  test('what is held twice is let go as it was: what came with an app goes with it', async () => {
    await store.run('install', { package: 'demo' });
    for (const operation of ['hold', 'hold', 'release']) {
      const answer = await store.daemon.post(`admin/store/${operation}`, { package: 'demo' });
      expect(await answer.json()).toEqual({ code: 0 });
    }

    expect(await opened.wish()).toBe(free);
    expect((await store.run('remove', { package: 'demo' })).state).toBe('done');
    expect(await store.packages()).not.toHaveProperty('demo-app');
    nothingChanged();
  });

  test('an app that is removed while it is held takes along what came with it', async () => {
    const before = await store.packages();
    await store.run('install', { package: 'demo' });
    await store.daemon.post('admin/store/hold', { package: 'demo' });

    expect((await store.run('remove', { package: 'demo' })).state).toBe('done');
    expect(await store.packages()).toEqual(before);
    expect((await opened.wish()) ?? '').not.toMatch(/demo/);
    nothingChanged();
  });

  test('what is held is upgraded by nothing, and by its name once it is let go', async () => {
    await store.run('install', { package: 'demo' });
    const post = async (operation: string): Promise<unknown> =>
      (await store.daemon.post(`admin/store/${operation}`, { package: 'demo' })).json();

    expect(await post('hold')).toEqual({ code: 0 });
    expect(await opened.wish()).toBe(held);
    opened.publish();
    await store.run('update');
    expect((await store.run('upgrade', { all: 'true' })).state).toBe('done');
    expect((await store.packages())['demo-app']).toBe(older);
    const refused = await store.run('upgrade', { package: 'demo' });
    expect([refused.state, refused.error_code, refused.remedy]).toEqual([
      'failed',
      'held',
      expect.stringMatching(/^Release \S+ from its hold, then try again\.$/),
    ]);

    expect(await post('release')).toEqual({ code: 0 });
    expect(await opened.wish()).toBe(free);
    expect((await store.run('upgrade', { package: 'demo' })).state).toBe('done');
    expect((await store.packages())['demo-app']).toBe(newer);
  });

  test('what came with an app and is installed by its name stays, unless that is undone', async () => {
    await store.run('install', { package: 'demo' });
    const { id } = await store.run('install', { package: 'libdemo' });
    const isAuto = async (): Promise<unknown> => {
      const answer = await store.daemon.get('admin/store/details?package=libdemo');
      return ((await answer.json()) as { is_auto: boolean }).is_auto;
    };
    expect(await isAuto()).toBe(false);

    await store.run('undo', { task_id: id });
    expect(await isAuto()).toBe(true);
    await store.run('install', { package: 'libdemo' });
    await store.run('remove', { package: 'demo' });

    expect(await store.packages()).toEqual({ libdemo: older });
  });

  test('what is let go once its app has gone stands in the way of no installation', async () => {
    await store.run('install', { package: 'notes' });
    await store.daemon.post('admin/store/hold', { package: 'notes-app' });
    await store.run('remove', { package: 'notes' });
    await store.daemon.post('admin/store/release', { package: 'notes-app' });
    const before = await store.packages();

    expect((await store.run('install', { package: 'demo' })).state).toBe('done');
    expect(await store.packages()).toMatchObject(before);
  });
});

function paragraphOf(status = ''): string {
  return status.split('\n\n').find((text) => text.startsWith('Package: app-meta-demo\n')) ?? '';
}
