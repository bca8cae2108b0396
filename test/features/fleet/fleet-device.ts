import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { startDaemon, type TestDaemon } from '../../device/daemon.ts';
import type { DaemonOptions } from '../../device/daemon-process.ts';
import { createDevice, type Device, type DeviceOptions } from '../../device/device.ts';
import { createIpk, type Ipk, type PackageSource } from '../../device/ipk.ts';
import { simplePackage } from '../../device/packages/package-parts.ts';
import type { ActionState, FleetServer, PublishedModule } from './fleet-server.ts';

export interface FleetStatus {
  is_on: boolean;
  last_error?: string;
  polled_at?: number;
  next_poll_at?: number;
  interval_s?: number;
  action?: {
    id: string;
    state: string;
    result?: string;
    message?: string;
    error_code?: string;
    is_reported: boolean;
    task_id?: string;
  };
}

/** A device in a folder whose daemon belongs to a fleet. */
export interface FleetDevice<Kind = Device> {
  readonly device: Kind;
  readonly daemon: TestDaemon;
  readonly id: string;
  /** Has the server offer it a set of these modules. @returns the id of the action */
  readonly rollOut: (...modules: readonly PublishedModule[]) => Promise<string>;
  /** Has the daemon ask its server now. */
  readonly poll: () => Promise<FleetStatus>;
  readonly status: () => Promise<FleetStatus>;
  /** Polls from time to time until that has happened. */
  readonly pollUntil: (event: Promise<unknown>) => Promise<void>;
  /** Polls until the action is as it should be. */
  readonly until: (
    action: string,
    isSo: (state: ActionState, status: FleetStatus) => boolean,
  ) => Promise<ActionState>;
  /** Of all its packages, in their order. */
  readonly names: () => Promise<string[]>;
  /** Polls until the action is over. */
  readonly over: (action: string) => Promise<ActionState>;
  readonly close: () => Promise<void>;
}

export interface FleetDeviceOptions extends Pick<DaemonOptions, 'nodeFlags' | 'env'> {
  set?: readonly string[];
  device?: DeviceOptions;
  id?: string;
}

let count = 0;
const LIMIT_MS = 60_000;

export async function createFleetDevice(
  server: FleetServer,
  { device: deviceOptions, ...options }: FleetDeviceOptions = {},
): Promise<FleetDevice> {
  const device = await createDevice(deviceOptions);
  await device.opkg('update');
  return joinFleet(server, device, options);
}

interface HasPackages {
  database: () => Promise<ReadonlyMap<string, unknown>>;
}

/** The same with a device that is there, of either package manager. */
export async function joinFleet<Kind extends Pick<Device, 'root' | 'env' | 'close'> & HasPackages>(
  server: FleetServer,
  device: Kind,
  {
    set = [],
    id = `device-${process.pid}-${(count += 1)}`,
    ...daemonOptions
  }: Omit<FleetDeviceOptions, 'device'> = {},
): Promise<FleetDevice<Kind>> {
  const tokenFile = join(device.root, 'fleet-token');
  await writeFile(tokenFile, `${await server.addTarget(id)}\n`, { mode: 0o600 });
  const daemon = await startDaemon(device, {
    ...daemonOptions,
    set: [
      `fleet.server=${server.url}`,
      `fleet.controller_id=${id}`,
      `fleet.token_file=${tokenFile}`,
      ...set,
    ],
  });
  const statusIn = async (answer: Response): Promise<FleetStatus> =>
    (await answer.json()) as FleetStatus;
  const poll = async (): Promise<FleetStatus> => statusIn(await daemon.post('admin/fleet/poll'));
  const until: FleetDevice['until'] = async (action, isSo) => {
    const deadline = performance.now() + LIMIT_MS;
    for (;;) {
      const status = await poll();
      const state = await server.action(id, action);
      if (isSo(state, status)) return state;
      if (performance.now() > deadline) {
        throw new Error(`action ${action}: ${JSON.stringify({ state, status })}`);
      }
      await delay(50);
    }
  };
  return {
    device,
    daemon,
    id,
    rollOut: async (...modules) => server.assign(await server.publish(modules), id),
    poll,
    status: async () => statusIn(await daemon.get('admin/fleet/status')),
    until,
    pollUntil: async (event) => {
      const over = event.then(() => true);
      do await poll().catch(() => undefined);
      while (!(await Promise.race([over, delay(200, false)])));
    },
    names: async () => [...(await device.database()).keys()].sort(),
    over: (action) => until(action, ({ isActive }) => !isActive),
    close: async () => {
      await daemon.close();
      await device.close();
    },
  };
}

export function ipk(name: string, more: Partial<PackageSource> = {}): Ipk {
  return createIpk(simplePackage(name, more));
}

/** A module with these packages as files. */
export function moduleOf(...packages: Ipk[]): { files: Record<string, Buffer> } {
  return { files: Object.fromEntries(packages.map(({ fileName, bytes }) => [fileName, bytes])) };
}

/** A module with a plan alone. */
export function planOf(plan: object): { metadata: Record<string, string> } {
  return { metadata: { 'depotd.plan': JSON.stringify(plan) } };
}
