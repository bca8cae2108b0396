import { readFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

import { expect, onTestFinished, test } from 'vitest';

import { slowPackage } from '../device/packages/awkward-packages.ts';
import { runCommand } from '../device/command.ts';
import { startCuttingProxy } from '../support/cutting-proxy.ts';
import { createIdentity } from '../support/self-signed.ts';
import { createStoreDevice } from '../features/self-upgrade/self-upgrade-device.ts';
import { DEPOTCTL, runDepotctl, startClientTest } from './start-depotctl.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

test.each([
  ['cut after a while', { streamMs: 300, mostStreams: 2 }],
  ['refused', { streamMs: 300, mostStreams: 0 }],
])(
  'following shows all of a log, once and without a word, where streams are %s',
  async (_, options) => {
    const { daemon } = await startClientTest({ packages: [slowPackage(3)] });
    const proxy = await startCuttingProxy(() => daemon.url, options);
    onTestFinished(() => proxy.close());

    const { code, stdout, stderr } = await runDepotctl('--url', proxy.url, 'install', 'slow');

    expect(code).toBe(0);
    expect(stdout).toBe(await daemon.logOf('latest'));
    expect(stderr).toMatch(/^depotctl: opkg install slow: done after \d+ s\n$/);
    expect(options.mostStreams === 0 ? proxy.count.refused : proxy.count.begun).toBeGreaterThan(0);
  },
);

test('an address with https is asked over TLS, and a certificate that nobody vouches for is refused with a way out', async () => {
  const { daemon } = await startClientTest();
  const folder = await temporaryFolder();
  const { key, cert } = await createIdentity(folder);
  const server = createServer(
    { key: await readFile(key), cert: await readFile(cert) },
    (incoming, response) => {
      void daemon
        .get(incoming.url ?? '')
        .then(async (answer) =>
          response
            .writeHead(answer.status, { 'content-type': 'application/json' })
            .end(await answer.text()),
        );
    },
  );
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  onTestFinished(() => void server.close());
  const url = `https://localhost:${(server.address() as AddressInfo).port}`;

  expect(await runDepotctl('--url', url, 'token')).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('NODE_EXTRA_CA_CERTS') as string,
  });
  const trusting = await runCommand([process.execPath, DEPOTCTL, '--url', url, 'token'], {
    env: { ...process.env, NODE_EXTRA_CA_CERTS: cert },
  });
  expect(trusting).toMatchObject({ code: 0, stdout: `${await daemon.token()}\n` });
});

test('self-upgrade is followed over the end of the old daemon and the start of the new one', async () => {
  const on = await createStoreDevice();
  onTestFinished(() => on.close());
  expect(await runDepotctl('--url', on.url, 'self-upgrade')).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('the lists offer no newer version of depotd') as string,
  });
  await on.offer('2.0-1', 'good');
  expect(await runDepotctl('--url', on.url, 'self-upgrade', '--check')).toMatchObject({
    code: 0,
    stdout: '2.0-1\n',
  });

  const { code, stdout } = await runDepotctl('--url', on.url, 'self-upgrade');

  expect(code).toBe(0);
  expect(stdout).toContain('depotd 2.0-1 answers');
  expect(await on.version()).toBe('2.0-1');
});
