import { readConfig } from '../../../src/config/config.ts';
import { createNotes } from '../../../src/device/notes.ts';
import { createPaths } from '../../../src/device/paths.ts';
import { createApk } from '../../../src/package-management/apk/create-apk.ts';
import type { PackageManager } from '../../../src/package-management/manager.ts';
import type { ApkDevice } from '../../device/apk-device/apk-device.ts';
import { environmentOf } from '../opkg/open-host.ts';

/** What the daemon has of a device's apk, without a daemon. */
export function openApk(device: ApkDevice, more: Record<string, string> = {}): PackageManager {
  const { config } = readConfig({ file: '/dev/null', overrides: [`main.root=${device.root}`] });
  const paths = createPaths(config);
  const environment = { ...environmentOf(device.env), ...more };
  const notes = createNotes(paths.stateDir);
  return createApk({ paths, notes, environment, scriptEnvironment: environment });
}
