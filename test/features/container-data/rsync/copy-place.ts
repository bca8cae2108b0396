import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import {
  createCopier,
  type CopyPass,
} from '../../../../src/features/container-data/rsync/rsync.ts';
import { prepare } from '../../../../src/features/container-data/target-folder.ts';
import { moveFolder } from '../../../../src/features/container-data/target-layout.ts';

const run = promisify(execFile);

/** A source with a folder `sub`, and a target that is prepared for a copy of it. */
export interface CopyPlace {
  readonly root: string;
  readonly source: string;
  /** The folder of the move; the copy is `new` in it. */
  readonly folder: string;
  readonly copier: ReturnType<typeof createCopier>;
  /** @returns what it prints; the programs of `wrap` are what it finds first */
  readonly pass: (kind: CopyPass, totalBytes?: number) => Promise<string>;
  readonly copyOf: (name: string) => Promise<string>;
  /** Folder of programs that come first. */
  readonly programs: string;
  /** Has a program run a shell text first. */
  readonly wrap: (name: string, text: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

export async function createCopyPlace(): Promise<CopyPlace> {
  const root = await mkdtemp(join(tmpdir(), 'depotd-copy-'));
  const [source, programs, target] = ['source', 'programs', 'target'].map((name) =>
    join(root, name),
  ) as [string, string, string];
  await mkdir(programs);
  await mkdir(join(source, 'sub'), { recursive: true });
  await prepare(target, 'job');
  const { folder } = moveFolder(target);
  const copier = createCopier({ PATH: process.env.PATH ?? '/usr/bin:/bin' });
  return {
    root,
    source,
    folder,
    copier,
    programs,
    pass: async (kind, totalBytes = 0) => {
      const {
        argv: [program, ...args],
        environment,
        cwd,
      } = await copier.command(kind, { source, target, totalBytes });
      return (
        await run(program, args, {
          env: { ...environment, PATH: `${programs}:${environment.PATH}` },
          cwd,
        })
      ).stdout;
    },
    copyOf: (name) => readFile(join(folder, 'new', name), 'utf8'),
    wrap: async (name, text) => {
      const { stdout } = await run('sh', ['-c', 'command -v "$1"', 'sh', name]);
      await writeFile(join(programs, name), `#!/bin/sh\n${text}\nexec ${stdout.trim()} "$@"\n`, {
        mode: 0o755,
      });
    },
    close: () => rm(root, { recursive: true }),
  };
}
