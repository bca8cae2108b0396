import { expect, onTestFinished, test } from 'vitest';

import { openStore } from './open-store.ts';

test.each(['valueOf', 'toString', 'hasOwnProperty', 'constructor', 'prototype'])(
  'a package called as what every object has is one like any other: %s',
  async (name) => {
    const files = { '/usr/bin/odd': 'odd\n' };
    const store = await openStore({
      packages: [{ name, version: '1.0-1', architecture: 'all', files }],
    });
    onTestFinished(() => store.close());
    expect(await store.run('install', { package: name })).toMatchObject({ state: 'done' });
    store.device.feed.publish([]);
    await store.run('update');

    expect(await store.run('upgrade', { package: name })).not.toHaveProperty('error');
    const query = `operation=upgrade&package=${name}`;
    expect((await store.daemon.get(`admin/store/plan?${query}`)).status).toBe(200);
    const { id } = await store.run('remove', { package: name });
    expect(await store.daemon.status(id)).toMatchObject({ packages: [name] });
    expect(await store.run('undo', { task_id: id })).toMatchObject({ state: 'done' });
  },
  60_000,
);
