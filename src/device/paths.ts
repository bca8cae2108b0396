import { join } from 'node:path';
import type { Config } from '../config/config.ts';

/** Every path on the device, from one root. No other file joins a device path to the root. */
export interface Paths {
  root: string;
  /** Whether the root is the device's own, `/`; else package managers work on an offline root. */
  isLive: boolean;
  stateDir: string;
  logDir: string;
  uploadDir: string;
  /** Folder of the scripts that configure an app after its installation. */
  autoconfDir: string;
  /** Folder of the scripts that tell an app's state and address. */
  entryDir: string;
  /** Folder of the scripts that run an app's container. */
  containerScriptDir: string;
  uciDir: string;
  /** Where a path of the device is to be found: below the root. */
  onDevice: (path: string) => string;
}

export function createPaths({ main }: Config): Paths {
  const onDevice = (path: string): string => join(main.root, path);
  return {
    root: main.root,
    isLive: main.root === '/',
    stateDir: onDevice(main.state_dir),
    logDir: onDevice(main.log_dir),
    uploadDir: onDevice(main.upload_dir),
    autoconfDir: onDevice('/usr/libexec/istorea'),
    entryDir: onDevice('/usr/libexec/istoree'),
    containerScriptDir: onDevice('/usr/libexec/istorec'),
    uciDir: onDevice('/etc/config'),
    onDevice,
  };
}
