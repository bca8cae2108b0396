import { appendFile, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { startClientTest } from './start-depotctl.ts';

test('without lists, as after a boot, search says so, and an upgrade is no success unless they can be fetched', async () => {
  const { depotctl, device } = await startClientTest();
  await depotctl('install', 'demo');
  const boot = (): Promise<void> =>
    rm(join(device.root, 'var/opkg-lists'), { recursive: true, force: true });
  await boot();
  // A change of what is installed is seen at once, one of the lists within a second.
  await expect
    .poll(async () => (await depotctl('search', 'zzzzzz')).stderr, { timeout: 10_000 })
    .toContain('no package lists since the device was started');
  expect((await depotctl('search', 'zzzzzz')).code).toBe(1);
  expect(await depotctl('upgrade', '-y')).toMatchObject({ code: 0 });
  await boot();
  await device.feed.close();

  const { code, stdout, stderr } = await depotctl('upgrade', '-y');

  expect(code).not.toBe(0);
  expect(`${stdout}${stderr}`).toContain('there are no package lists, and they cannot be fetched');
});

test('search and list --upgradable name the feeds whose list did not come', async () => {
  const { depotctl, device } = await startClientTest();
  const feeds = join(device.root, 'etc/opkg/customfeeds.conf');
  await appendFile(feeds, 'src/gz gone http://127.0.0.1:1/gone\n');
  await device.opkg('update');
  const words = 'no package list came of these feeds: gone; what they offer is not known';

  for (const call of [
    ['search', 'demo'],
    ['search', 'zzzzzz'],
    ['list', '--upgradable'],
  ] as const) {
    await expect.poll(async () => (await depotctl(...call)).stderr).toContain(words);
  }
});
