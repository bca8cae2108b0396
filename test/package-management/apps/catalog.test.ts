import { expect, onTestFinished, test, vi } from 'vitest';

import { createCatalog } from '../../../src/package-management/apps/catalog.ts';
import { createLog } from '../../../src/log.ts';
import { createDevice } from '../../device/device.ts';
import { openHost } from '../opkg/open-host.ts';

test('the list of apps and its entity tag are made once for each change, not for each request', async () => {
  const device = await createDevice();
  onTestFinished(() => device.close());
  const { manager } = await openHost(device);
  const catalog = createCatalog({ manager, log: createLog('silent') });
  const before = await catalog.installed();

  expect(await catalog.installed()).toBe(before);
  expect(before.etag).toMatch(/^"[\w-]{27}"$/);

  await device.opkg('update');
  await device.opkg('install', 'app-meta-demo');
  await catalog.refresh();

  const after = await catalog.installed();
  expect(await catalog.installed()).toBe(after);
  expect(after.etag).not.toBe(before.etag);
});

test('what is installed is read again for who asks after it could not be read', async () => {
  const device = await createDevice();
  onTestFinished(() => device.close());
  const { manager } = await openHost(device);
  const catalog = createCatalog({ manager, log: createLog('silent') });
  const installed = vi.spyOn(manager, 'installed');
  const failOnce = (): unknown => installed.mockRejectedValueOnce(new Error('no descriptor'));

  failOnce();
  await catalog.refresh();
  expect(Buffer.from((await catalog.installed()).body)).toEqual(Buffer.from('[]'));

  await device.opkg('update');
  await device.opkg('install', 'app-meta-demo');
  failOnce();
  await catalog.refresh();
  expect(Buffer.from((await catalog.installed()).body).toString()).toContain('"demo"');
});

test('who asks while the first reading fails is answered by the next', async () => {
  const device = await createDevice();
  onTestFinished(() => device.close());
  const { manager } = await openHost(device);
  const catalog = createCatalog({ manager, log: createLog('silent') });
  vi.spyOn(manager, 'installed').mockRejectedValueOnce(new Error('no descriptor'));

  const first = catalog.installed().catch((error: unknown) => error);
  await catalog.installed().catch(() => undefined);
  await first;

  expect(Buffer.from((await catalog.installed()).body)).toEqual(Buffer.from('[]'));
});
