import type { Paths } from '../../device/paths.ts';
import type { UploadKind } from './port.ts';
import type { Command } from '../../device/command.ts';

/**
 * How an uploaded file is installed: a package by opkg, from its path; a program by running it,
 * with no arguments and the clean environment of all commands. Both run as job commands do, on a
 * pseudo-terminal.
 */
export function createInstaller(
  paths: Paths,
  commands: { install: (names: string[]) => Command; environment: Record<string, string> },
): (file: string, kind: UploadKind) => Command {
  const environment = paths.isLive
    ? commands.environment
    : { ...commands.environment, IPKG_INSTROOT: paths.root };
  return (file, kind) =>
    kind === 'ipk' ? commands.install([file]) : { argv: [file], environment, cwd: '/' };
}
