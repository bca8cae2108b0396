import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

import { createIdentity, type Identity } from '../../support/self-signed.ts';
import { createFleetDevice, type FleetDevice, type FleetStatus } from './fleet-device.ts';
import { createStandIn, type StandIn, type StandInOptions } from './stand-in.ts';

let folder: string;
let server: Identity;
let device: Identity;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'depotd-fleet-tls-'));
  server = await createIdentity(folder, 'server');
  device = await createIdentity(folder, 'device');
});
afterAll(() => rm(folder, { recursive: true }));

/** One that is good for a year, from then on. */
async function createDated(name: string, year: number): Promise<Identity> {
  const identity = await createIdentity(folder, name);
  const config = join(folder, `${name}.conf`);
  const lines = [
    ...['[ca]', 'default_ca = own', '[own]', `database = ${config}.index`, 'policy = any'],
    ...['default_md = sha256', `new_certs_dir = ${folder}`, 'rand_serial = yes'],
    ...['x509_extensions = more', '[any]', 'commonName = supplied', '[more]'],
    ...['subjectAltName = DNS:localhost', 'basicConstraints = CA:TRUE'],
  ];
  await writeFile(config, `${lines.join('\n')}\n`);
  await writeFile(`${config}.index`, '');
  const openssl = (...args: string[]) => promisify(execFile)('openssl', args);
  const request = `${identity.cert}.csr`;
  await openssl('req', '-new', '-key', identity.key, '-subj', '/CN=localhost', '-out', request);
  await openssl(
    ...['ca', '-batch', '-selfsign', '-notext', '-config', config, '-keyfile', identity.key],
    ...['-in', request, '-out', identity.cert],
    ...['-startdate', `${year}0101000000Z`, '-enddate', `${year + 1}0101000000Z`],
  );
  return identity;
}

async function start(
  tls: StandInOptions['tls'],
  ...set: string[]
): Promise<{ standIn: StandIn; on: FleetDevice; poll: () => Promise<FleetStatus> }> {
  const standIn = await createStandIn({
    tls: { key: await readFile(server.key), cert: await readFile(server.cert), ...tls },
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

test.each([
  ['not good yet', 2098, 'certificate is not yet valid'],
  ['good no more', 1990, 'certificate has expired'],
])('a certificate that is %s is told together with the clock', async (_, year, message) => {
  const { key, cert } = await createDated(`of-${year}`, year);
  const own = { key: await readFile(key), cert: await readFile(cert) };
  const { standIn, poll } = await start(own, `fleet.ca_file=${cert}`);

  const { last_error: error = '' } = await poll();

  expect(error).toContain(message);
  const day = new Date().toISOString().slice(0, 10);
  expect(error).toContain(`the clock of this device says ${day}`);
  expect(standIn.requests).toEqual([]);
});
