import { join } from 'node:path';
import type { Config } from '../config/config.ts';

/** Every path on the device, from one root. No other file joins a device path to the root. */
export type Paths = ReturnType<typeof createPaths>;

export function createPaths({ main }: Config) {
  /** Where a path of the device is to be found: below the root. */
  const onDevice = (path: string): string => join(main.root, path);
  return {
    root: main.root,
    /** Whether the root is the device's own, `/`; else package managers work on an offline root. */
    isLive: main.root === '/',
    stateDir: onDevice(main.state_dir),
    logDir: onDevice(main.log_dir),
    uploadDir: onDevice(main.upload_dir),
    /** Folder of the scripts that configure an app after its installation. */
    autoconfDir: onDevice('/usr/libexec/istorea'),
    /** Folder of the scripts that tell an app's state and address. */
    entryDir: onDevice('/usr/libexec/istoree'),
    /** Folder of the scripts that run an app's container. */
    containerScriptDir: onDevice('/usr/libexec/istorec'),
    uciDir: onDevice('/etc/config'),
    onDevice,
  };
}
