import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { createFleetDevice, ipk, moduleOf } from './fleet-device.ts';
import { createStandIn } from './stand-in.ts';

const WAITING =
  'echo begun >> "$IPKG_INSTROOT/begun"; while [ ! -e "$IPKG_INSTROOT/go" ]; do sleep 0.1; done';

test('an action that ends while the server is asked does not end another one that has its id', async () => {
  const server = await createStandIn();
  onTestFinished(() => server.close());
  const on = await createFleetDevice(server);
  onTestFinished(() => on.close());
  const slow = ipk('slow', { scripts: { postinst: `#!/bin/sh\n${WAITING}\n` } });
  const sets = [
    await server.publish([moduleOf(slow)]),
    await server.publish([moduleOf(ipk('two'))]),
  ] as const;
  const restore = server.snapshot();
  const first = await server.assign(sets[0], on.id);
  await expect
    .poll(async () => (await on.poll(), on.device.read('begun')), { timeout: 30_000 })
    .toBeDefined();
  // Put back from a backup: the device has not seen that yet.
  restore();
  expect(await server.assign(sets[1], on.id)).toBe(first);
  // From here on the link is that of the other one.
  await on.poll();
  server.intercept = (request, response) => {
    if (!/v1\/[^/]+$/.test(request.url ?? '')) return false;
    server.intercept = undefined;
    void writeFile(join(on.device.root, 'go'), '')
      .then(() => expect.poll(async () => (await on.status()).action?.result).toBe('success'))
      .finally(() => server.pass(request, response));
    return true;
  };

  expect(await on.over(first)).toMatchObject({ status: 'finished' });
  expect((await on.device.database()).has('two')).toBe(true);
});
