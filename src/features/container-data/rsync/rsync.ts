import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Copier, CopyReport } from '../device.ts';
import { run } from '../../../device/exec.ts';
import { COPY_NAME, KEPT_OUT, LIST_NAME, MARKER_NAME, STAGED_NAME } from '../target-layout.ts';
import LISTER from './list-changed.script.cjs';
import PASSES from './passes.sh';
import STAGE_ONE from './stage-one.sh';

/** What an rsync can do, from what `rsync --version` prints. */
export interface Abilities {
  version: [major: number, minor: number, patch: number];
  hasAcls: boolean;
  hasXattrs: boolean;
  hasHardLinks: boolean;
}

export function createCopier(environment: Record<string, string>): Copier {
  const abilities = async (): Promise<Abilities | undefined> => {
    const result = await run(
      { argv: ['rsync', '--version'], environment, cwd: '/' },
      { timeoutMs: 10_000, maxBytes: 64 * 1024 },
    ).catch(() => undefined);
    return result?.exitCode === 0 ? parseAbilities(result.stdout) : undefined;
  };
  return {
    fault: async () => faultOf(await abilities()),
    command: async (pass, { source, folder, totalBytes }) => {
      const { options, attributes } = optionsFor(
        (await abilities()) ?? OLDEST,
        await keepsNanoseconds(folder),
      );
      const names = [COPY_NAME, MARKER_NAME, STAGED_NAME, LIST_NAME];
      const paths = [source, ...names.map((name) => join(folder, name))];
      return {
        argv: [
          '/bin/sh',
          '-c',
          PASSES,
          'sh',
          pass,
          ...paths,
          String(totalBytes),
          process.execPath,
          LISTER,
          STAGE_ONE,
          'rsync',
          ...options,
          ...(pass === 'compare' ? [] : attributes),
        ],
        environment,
        cwd: '/',
      };
    },
    removal: (folder) => ({ argv: ['rm', '-rf', '--', folder], environment, cwd: '/' }),
    percentIn: (tail) => {
      const found = [...tail.matchAll(/^copied (\d+) %\r?$/gm)].at(-1)?.[1];
      return found === undefined ? undefined : Number(found);
    },
    reportIn,
  };
}

const OLDEST: Abilities = {
  version: [3, 0, 0],
  hasAcls: false,
  hasXattrs: true,
  hasHardLinks: true,
};

/**
 * `rsync  version 3.2.7  protocol version 31`, and the capabilities, those it lacks with a `no`
 * before them.
 */
export function parseAbilities(output: string): Abilities | undefined {
  const [, major, minor, patch] = /^rsync\s+version\s+v?(\d+)\.(\d+)\.(\d+)/.exec(output) ?? [];
  if (major === undefined) return undefined;
  const has = (name: string): boolean =>
    new RegExp(`\\b${name}\\b`).test(output) && !new RegExp(`\\bno ${name}\\b`).test(output);
  return {
    version: [Number(major), Number(minor), Number(patch)],
    hasAcls: has('ACLs'),
    hasXattrs: has('xattrs'),
    hasHardLinks: has('hardlinks'),
  };
}

function faultOf(abilities: Abilities | undefined): string | undefined {
  if (abilities === undefined) return 'there is no rsync on this device';
  const missing = [
    abilities.hasXattrs ? '' : 'extended attributes',
    abilities.hasHardLinks ? '' : 'hard links',
  ].filter((name) => name !== '');
  return missing.length === 0
    ? undefined
    : `the rsync of this device cannot keep ${missing.join(' and ')}`;
}

/**
 * The options of every pass, and those that bring attributes over. -x, since the mounts of running
 * containers below the data root show what is copied from elsewhere already. Times are compared to
 * the nanosecond if both sides keep them: by itself rsync looks at whole seconds, and containers
 * write more often.
 */
export function optionsFor(
  { version, hasAcls }: Abilities,
  areNanosecondsKept: boolean,
): { options: string[]; attributes: string[] } {
  const isSince = (wanted: readonly number[]): boolean =>
    (wanted
      .map((part, index) => (version[index] ?? 0) - part)
      .find((difference) => difference !== 0) ?? 0) >= 0;
  const attributes = [hasAcls ? '-AX' : '-X'];
  const options = ['-aHSx', '--numeric-ids', ...KEPT_OUT.map((name) => `--exclude=/${name}`)];
  if (isSince([3, 1, 0])) options.push('--no-human-readable', '--ignore-missing-args');
  // On xfs, ACLs show a second time, as attributes that the source does not have: deleting those
  // would delete the ACLs.
  if (isSince([3, 1, 0])) attributes.push('--filter=-x_trusted.SGI_ACL_*');
  if (isSince([3, 1, 3]) && areNanosecondsKept) options.push('--modify-window=-1');
  return { options, attributes };
}

/**
 * The marker was given a time with a fraction: a file system that keeps whole seconds has lost it.
 */
async function keepsNanoseconds(folder: string): Promise<boolean> {
  return stat(join(folder, MARKER_NAME), { bigint: true }).then(
    ({ mtimeNs }) => mtimeNs % 1_000_000_000n !== 0n,
    () => false,
  );
}

export function reportIn(output: string): CopyReport | undefined {
  const [, files] = /^Number of files: (\d+)/m.exec(output) ?? [];
  const [, bytes] = /^Total file size: (\d+) bytes/m.exec(output) ?? [];
  const [, copied] = /^copied things: (\d+)/m.exec(output) ?? [];
  const [, differences] = /^differences: (\d+)/m.exec(output) ?? [];
  if (
    files === undefined ||
    bytes === undefined ||
    copied === undefined ||
    differences === undefined
  ) {
    return undefined;
  }
  return {
    files: Number(files),
    bytes: Number(bytes),
    copied: Number(copied),
    differences: Number(differences),
  };
}
