import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, onTestFinished } from 'vitest';

import { createFleetDevice, type FleetDevice, type FleetDeviceOptions } from './fleet-device.ts';
import type { FleetServer } from './fleet-server.ts';
import { createStandIn, type StandIn } from './stand-in.ts';

/**
 * One server and one device for all tests of a file, or of a group in it. Each begins with a server
 * that lies no more, and with the packages that the device had at first.
 */
export function shareFleetDevice(
  options: SharedOptions,
  use: (server: StandIn, on: FleetDevice) => void,
): void {
  const begin = (server: StandIn, on: FleetDevice): void => {
    Object.assign(server, { intercept: undefined, rewrite: undefined });
    server.requests.length = 0;
    use(server, on);
  };
  shareDeviceOf(createStandIn, options, begin);
}

/** For a test that needs a daemon of its own: with these options, that has heard nothing yet. */
export async function openFleetDevice(...set: string[]): Promise<[StandIn, FleetDevice]> {
  const server = await createStandIn();
  onTestFinished(() => server.close());
  const on = await createFleetDevice(server, { set });
  onTestFinished(() => on.close());
  return [server, on];
}

type SharedOptions = FleetDeviceOptions | (() => Promise<FleetDeviceOptions>);

/** The same of another server. */
export function shareDeviceOf<Server extends FleetServer>(
  createServer: () => Promise<Server>,
  options: SharedOptions,
  use: (server: Server, on: FleetDevice) => void,
): void {
  let server: Server;
  let on: FleetDevice;
  let resetPackages: () => Promise<void>;
  beforeAll(async () => {
    server = await createServer();
    on = await createFleetDevice(server, typeof options === 'function' ? await options() : options);
    resetPackages = await packagesIn(on.device.root);
  });
  beforeEach(async () => {
    await resetPackages();
    use(server, on);
  });
  afterAll(async () => {
    await on.close();
    await server.close();
  });
}

/** @returns what has opkg know these packages alone; files of others stay */
async function packagesIn(root: string): Promise<() => Promise<void>> {
  const [status, info] = [join(root, 'usr/lib/opkg/status'), join(root, 'usr/lib/opkg/info')];
  const [text, names] = [await readFile(status, 'utf8'), await readdir(info)];
  return async () => {
    for (const name of await readdir(info)) if (!names.includes(name)) await rm(join(info, name));
    await writeFile(status, text);
  };
}
