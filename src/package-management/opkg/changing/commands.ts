import type { Command } from '../../../device/command.ts';
import type { BackendContext, PackageCommands } from '../../manager.ts';

export interface OpkgCommands extends PackageCommands {
  /** Any other command line. */
  opkg: (...args: string[]) => Command;
}

/** opkg removes packages one by one, and none that another one still needs. */
const FORCE_DEPENDS = '--force-depends';

/**
 * opkg's argument vectors. `--` stands before names, since opkg permutes options and takes `-o/dir`
 * as another root. With a root other than `/`, opkg works on it as an offline root, whose
 * maintainer scripts run only when forced.
 */
export function createOpkgCommands({ paths, scriptEnvironment }: BackendContext): OpkgCommands {
  const rootOptions = paths.isLive ? [] : ['--offline-root', paths.root, '--force-postinstall'];
  const opkg = (...rest: string[]): Command => ({
    argv: ['opkg', ...rootOptions, ...rest],
    environment: scriptEnvironment,
  });
  return {
    opkg,
    install: (names) => opkg('install', '--', ...names),
    upgrade: (names) => opkg('upgrade', '--', ...names),
    remove: (names, isCircle = false) =>
      opkg(...(isCircle ? [FORCE_DEPENDS] : []), 'remove', '--', ...names),
    configure: (names) => opkg('configure', '--', ...names),
    update: () => opkg('update'),
    // opkg checks no sum of what it fetches so.
    fetch: (names, folder) => ({ ...opkg('download', '--', ...names), cwd: folder }),
    installFile: (file, isOlder = false) =>
      opkg('install', ...(isOlder ? ['--force-downgrade'] : []), '--', file),
    shown: ({ verb, names, isCircle = false }) =>
      ['opkg', ...(isCircle ? [FORCE_DEPENDS] : []), verb, ...names].join(' '),
  };
}
