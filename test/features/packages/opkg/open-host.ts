import { readConfig } from '../../../../src/config/config.ts';
import { createPaths } from '../../../../src/device/paths.ts';
import { createHost } from '../../../../src/create-device.ts';
import type { Host } from '../../../../src/device-ports.ts';
import type { Device } from '../../../device/device.ts';

/** The real host part of the daemon on a device in a folder. */
export async function openHost(device: Device): Promise<Host> {
  const { config } = readConfig({ file: '/dev/null', overrides: [`main.root=${device.root}`] });
  return createHost({
    paths: createPaths(config),
    environment: environmentOf(device.env),
    selfUpgrade: { limitSeconds: 60, healthAddress: () => '' },
    container: () => config.container,
  });
}

/** Those variables that have a value. */
export function environmentOf(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
