import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

import { createFleetDevice, type FleetDevice, type FleetStatus } from './fleet-device.ts';
import { createStandIn, type StandIn, type StandInOptions } from './stand-in.ts';

interface Identity {
  key: string;
  cert: string;
}

let folder: string;
let server: Identity;
let device: Identity;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'depotd-fleet-tls-'));
  [server, device] = [await createIdentity('server'), await createIdentity('device')];
});
afterAll(() => rm(folder, { recursive: true }));

/** A certificate that vouches for itself. */
async function createIdentity(name: string): Promise<Identity> {
  const identity = { key: join(folder, `${name}.key`), cert: join(folder, `${name}.pem`) };
  await promisify(execFile)('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
    ...['-days', '2', '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'],
    ...['-keyout', identity.key, '-out', identity.cert],
  ]);
  return identity;
}

async function start(
  tls: StandInOptions['tls'],
  ...set: string[]
): Promise<{ standIn: StandIn; on: FleetDevice; poll: () => Promise<FleetStatus> }> {
  const standIn = await createStandIn({
    tls: { ...tls, key: await readFile(server.key), cert: await readFile(server.cert) },
  });
  const on = await createFleetDevice(standIn, { set });
  onTestFinished(async () => {
    await on.close();
    await standIn.close();
  });
  return { standIn, on, poll: on.poll };
}

test('a server is believed with the authority of its owner alone', async () => {
  const { standIn, poll } = await start({}, `fleet.ca_file=${server.cert}`);

  expect(await poll()).not.toHaveProperty('last_error');
  expect(standIn.requests).not.toEqual([]);
});

test.each([
  ['without an authority of its own', (): string[] => []],
  ['of another authority', (): string[] => [`fleet.ca_file=${device.cert}`]],
])('a server %s is sent nothing', async (_, set) => {
  const { standIn, poll } = await start({}, ...set());

  expect((await poll()).last_error).toMatch(/self-signed certificate/);
  expect(standIn.requests).toEqual([]);
});

test('a client certificate is shown to a server that asks for one', async () => {
  const asking = { requestCert: true, ca: await readFile(device.cert) };
  const ca = `fleet.ca_file=${server.cert}`;
  const own = [`fleet.cert_file=${device.cert}`, `fleet.cert_key_file=${device.key}`];
  const known = await start(asking, ca, ...own);
  const stranger = await start(asking, ca);

  expect(await known.poll()).not.toHaveProperty('last_error');
  expect(await stranger.poll()).toHaveProperty('last_error');
});

test('a token that others may read is not sent', async () => {
  const { standIn, on, poll } = await start({}, `fleet.ca_file=${server.cert}`);
  await chmod(join(on.device.root, 'fleet-token'), 0o644);

  expect((await poll()).last_error).toBe(
    'cannot use fleet.token_file: others may read it; mode 0600 is expected',
  );
  expect(standIn.requests).toEqual([]);
});
