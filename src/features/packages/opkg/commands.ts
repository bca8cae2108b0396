import type { Command } from '../../../device/command.ts';
import type { BackendContext, PackageCommands } from '../package-manager.ts';

export interface OpkgCommands extends PackageCommands {
  /** Any other command line. */
  opkg: (...args: string[]) => Command;
}

/**
 * opkg's argument vectors. `--` stands before names, since opkg permutes options and takes `-o/dir`
 * as another root. With a root other than `/`, opkg works on it as an offline root, whose
 * maintainer scripts run only when forced.
 */
export function createOpkgCommands({
  paths,
  scriptEnvironment,
}: Pick<BackendContext, 'paths' | 'scriptEnvironment'>): OpkgCommands {
  const rootOptions = paths.isLive ? [] : ['--offline-root', paths.root, '--force-postinstall'];
  const opkg = (...rest: string[]): Command => ({
    argv: ['opkg', ...rootOptions, ...rest],
    environment: scriptEnvironment,
    cwd: '/',
  });
  return {
    opkg,
    install: (names) => opkg('install', '--', ...names),
    upgrade: (names) => opkg('upgrade', '--', ...names),
    remove: (names) => opkg('remove', '--', ...names),
    configure: (names) => opkg('configure', '--', ...names),
    update: () => opkg('update'),
    installFile: (file) => opkg('install', '--', file),
    shown: ({ verb, names }) => ['opkg', verb, ...names].join(' '),
  };
}
