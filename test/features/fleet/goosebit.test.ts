import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';

import { startDaemon, type TestDaemon } from '../../device/daemon.ts';
import { createDevice, type Device } from '../../device/device.ts';
import type { FleetStatus } from './fleet-device.ts';
import { createGoosebit } from './goosebit.ts';
import { createStandIn } from './stand-in.ts';

/**
 * What gooseBit 0.2.12 can be used for: it has SHA-1 alone for its files, and depotd demands
 * SHA-256. At the stand-in that answers as it does, and at a real one if `GOOSEBIT` is its address.
 */
interface Server {
  url: string;
  /** Makes the target known, and gives its token. */
  register: (id: string) => Promise<string>;
  offer: (id: string) => Promise<void>;
  target: (id: string) => Promise<{ state: string; log: string }>;
  close: () => Promise<void>;
}
const SERVERS: [string, () => Promise<Server>][] = [['the stand-in', createLikeGoosebit]];
const url = process.env.GOOSEBIT;
if (url !== undefined) SERVERS.push(['gooseBit', () => connectTo(url)]);

async function connectTo(address: string): Promise<Server> {
  const server = await createGoosebit(address);
  // A target is made by its first poll, and its token is its own choice.
  return { ...server, register: () => Promise.resolve('any'), close: () => Promise.resolve() };
}

async function createLikeGoosebit(): Promise<Server> {
  const server = await createStandIn();
  let action = '';
  server.rewrite = rewritten;
  return {
    url: server.url,
    register: server.addTarget,
    offer: async (id) => {
      const set = await server.publish([{ files: { 'image.swu': Buffer.from('image') } }]);
      action = await server.assign(set, id);
    },
    target: async (id) => {
      const { status, messages } = await server.action(id, action);
      return { state: status === 'error' ? 'error' : status, log: messages.join('\n') };
    },
    close: server.close,
  };
}

/** No SHA-256, no metadata, another part. */
function rewritten(path: string, body: unknown): unknown {
  if (!path.startsWith('deploymentBase') || body === undefined) return body;
  const { id, deployment } = body as {
    id: string;
    deployment: { chunks: { artifacts: { hashes: { sha1: string } }[] }[] };
  };
  const chunks = deployment.chunks.map(({ artifacts }) => ({
    part: 'os',
    version: '1.0.0',
    name: 'image.swu',
    artifacts: artifacts.map(({ hashes: { sha1 }, ...rest }) => ({ ...rest, hashes: { sha1 } })),
  }));
  return { id, deployment: { ...deployment, chunks } };
}

describe.each(SERVERS)('a device of %s', (_, createServer) => {
  let server: Server;
  let device: Device;
  let daemon: TestDaemon;
  const id = `goose-${Date.now().toString(36)}`;
  const poll = async (): Promise<FleetStatus> =>
    (await (await daemon.post('admin/fleet/poll')).json()) as FleetStatus;

  afterEach(async () => {
    await daemon.close();
    await device.close();
    await server.close();
  });

  test('is registered, and refuses a file without SHA-256 with a report that says so', async () => {
    server = await createServer();
    device = await createDevice();
    const token = join(device.root, 'fleet-token');
    await writeFile(token, await server.register(id), { mode: 0o600 });
    daemon = await startDaemon(device, {
      set: [
        `fleet.server=${server.url}`,
        `fleet.controller_id=${id}`,
        `fleet.token_file=${token}`,
        'fleet.allow=run',
      ],
    });
    const { last_error: error, interval_s: interval } = await poll();
    expect(error).toBeUndefined();
    expect(interval).toBeGreaterThan(0);
    await server.offer(id);

    await expect.poll(async () => (await poll()).action?.is_reported).toBe(true);

    const { state, log } = await server.target(id);
    expect(log).toMatch(/image\S*\.swu has no SHA-256/);
    expect(log).toMatch(/error_code \w+/);
    expect(state).toMatch(/error|4/i);
    expect((await poll()).action).toMatchObject({ result: 'failure', is_reported: true });
    expect([...(await device.database()).keys()]).toEqual(['libc']);
  });
});
