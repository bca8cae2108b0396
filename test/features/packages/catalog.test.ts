import { expect, onTestFinished, test } from 'vitest';

import { createCatalog } from '../../../src/features/packages/catalog.ts';
import { createLog } from '../../../src/log.ts';
import { createDevice } from '../../device/device.ts';
import { openHost } from './opkg/open-host.ts';

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
