import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { startRpcd } from '../../device/rpcd/rpcd.ts';
import { openStore } from '../packages/open-store.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

test('each change of a task’s state is an event on ubus; without ubus tasks run all the same', async () => {
  const folder = await temporaryFolder();
  const socket = join(folder, 'ubus.sock');
  const store = await openStore({}, { env: { DEPOTD_UBUS_SOCKET: socket } });
  onTestFinished(store.close);
  expect(await store.run('install', { package: 'demo' })).toMatchObject({ state: 'done' });
  const rpcd = await startRpcd(socket);
  onTestFinished(rpcd.close);

  const { id: done } = await store.run('remove', { package: 'demo' });
  const { id: failed } = await store.run('install', { package: 'absent' });

  const event = (id: string, state: string): object => ({ id: 'depotd.task', data: { id, state } });
  await expect
    .poll(() => rpcd.events)
    .toEqual([
      ...['queued', 'running', 'done'].map((state) => event(done, state)),
      ...['queued', 'running', 'failed'].map((state) => event(failed, state)),
    ]);
});
