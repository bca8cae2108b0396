import { readConfig } from '../../../src/config/config.ts';
import { createNotes } from '../../../src/device/notes.ts';
import { createPaths } from '../../../src/device/paths.ts';
import { createOpkg } from '../../../src/package-management/opkg/create-opkg.ts';
import {
  openInstallation,
  type Installation,
} from '../../../src/package-management/opkg/installation.ts';
import type { PackageManager } from '../../../src/package-management/manager.ts';
import type { Device } from '../../device/device.ts';

export interface OpkgHost {
  manager: PackageManager;
  installation: Installation;
}

/** opkg of a device in a folder. */
export async function openHost(device: Device): Promise<OpkgHost> {
  const { config } = readConfig({ file: '/dev/null', overrides: [`main.root=${device.root}`] });
  const paths = createPaths(config);
  const environment = environmentOf(device.env);
  return {
    manager: await createOpkg({
      paths,
      notes: createNotes(paths.stateDir),
      environment,
      scriptEnvironment: { ...environment, IPKG_INSTROOT: device.root },
    }),
    installation: await openInstallation({ paths, environment }),
  };
}

/** Those variables that have a value. */
export function environmentOf(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
