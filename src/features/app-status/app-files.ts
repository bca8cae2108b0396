import { constants } from 'node:fs/promises';
import { join } from 'node:path';
import type { Paths } from '../../device/paths.ts';
import { run } from '../../device/exec.ts';
import { fileVersion } from '../../device/file-version.ts';
import { isThere } from '../../device/is-there.ts';
import type { RunLimits } from '../../device/command.ts';

/** What apps have beside their packages: configuration, and scripts that tell their state. */
export type AppFiles = ReturnType<typeof createAppFiles>;

/** @param environment the whole one that scripts get */
export function createAppFiles(paths: Paths, environment: Record<string, string>) {
  const entryScript = (app: string): string => join(paths.entryDir, `${app}.sh`);
  return {
    /** A text that changes when the UCI file does; undefined if there is none. */
    configVersion: (uci: string): Promise<string | undefined> =>
      fileVersion(join(paths.uciDir, uci)),
    /** Such a text for the scripts that say the app's state; undefined without an entry script. */
    scriptVersion: async (app: string): Promise<string | undefined> => {
      const entry = await fileVersion(entryScript(app));
      // The entry script of a container app asks the app's container script.
      return entry === undefined
        ? undefined
        : `${entry} ${(await fileVersion(join(paths.containerScriptDir, `${app}.sh`))) ?? ''}`;
    },
    /**
     * Runs the app's entry script: `NAME.sh status HOSTNAME`. It and all that it started are gone
     * when this settles.
     */
    runEntryScript: async (app: string, hostname: string, limits: RunLimits) => {
      const file = entryScript(app);
      const isProgram = await isThere(file, constants.X_OK);
      const [program, ...words] = isProgram ? [file] : ['/bin/sh', file];
      return run({ argv: [program, ...words, 'status', hostname], environment }, limits);
    },
  };
}
