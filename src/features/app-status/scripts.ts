import { constants } from 'node:fs/promises';
import { join } from 'node:path';
import type { Paths } from '../../device/paths.ts';
import { run } from '../../device/exec.ts';
import { fileVersion } from '../../device/file-version.ts';
import { isThere } from '../../device/is-there.ts';
import type { AppFiles } from './scripts-port.ts';

/** @param environment the whole one that scripts get */
export function createAppFiles(paths: Paths, environment: Record<string, string>): AppFiles {
  const entryScript = (app: string): string => join(paths.entryDir, `${app}.sh`);
  return {
    configVersion: (uci) => fileVersion(join(paths.uciDir, uci)),
    scriptVersion: async (app) => {
      const entry = await fileVersion(entryScript(app));
      // The entry script of a container app asks the app's container script.
      return entry === undefined
        ? undefined
        : `${entry} ${(await fileVersion(join(paths.containerScriptDir, `${app}.sh`))) ?? ''}`;
    },
    runEntryScript: async (app, hostname, limits) => {
      const file = entryScript(app);
      const isProgram = await isThere(file, constants.X_OK);
      const rest = [file, 'status', hostname] as const;
      return run(
        {
          argv: isProgram ? [...rest] : ['/bin/sh', ...rest],
          environment,
          cwd: '/',
        },
        limits,
      );
    },
  };
}
