import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Paths } from '../../../device/paths.ts';
import type { Command } from '../../../device/command.ts';
import type { PackageHost } from '../package-manager.ts';

/**
 * opkg's argument vectors. `--` stands before names, since opkg permutes options and takes `-o/dir`
 * as another root. With a root other than `/`, opkg works on it as an offline root, whose
 * maintainer scripts run only when forced and want to be told the root.
 */
export function createOpkgCommands(
  paths: Paths,
  base: Record<string, string>,
): PackageHost['commands'] {
  const rootOptions = paths.isLive ? [] : ['--offline-root', paths.root, '--force-postinstall'];
  const environment = paths.isLive ? base : { ...base, IPKG_INSTROOT: paths.root };
  const opkg = (...rest: string[]): Command => ({
    argv: ['opkg', ...rootOptions, ...rest],
    environment,
    cwd: '/',
  });
  return {
    install: (names) => opkg('install', '--', ...names),
    upgrade: (names) => opkg('upgrade', '--', ...names),
    remove: (names) => opkg('remove', '--', ...names),
    configure: (names) => opkg('configure', '--', ...names),
    update: () => opkg('update'),
    autoconf: async (name, variables) => {
      const file = join(paths.autoconfDir, `${name}.sh`);
      const isThere = await stat(file).then(
        (entry) => entry.isFile(),
        () => false,
      );
      return isThere
        ? { argv: ['/bin/sh', file], environment: { ...environment, ...variables }, cwd: '/' }
        : undefined;
    },
  };
}
