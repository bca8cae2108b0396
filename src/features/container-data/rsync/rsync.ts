import { stat } from 'node:fs/promises';
import type { Command } from '../../../device/command.ts';
import { run } from '../../../device/exec.ts';
import { KEPT_OUT, moveFolder } from '../target-layout.ts';
import LISTER from './list-changed.script.cjs';
import PASSES from './passes.sh';
import STAGE_ONE from './stage-one.sh';

/** What an rsync can do, from what `rsync --version` prints. */
export interface Abilities {
  /** 30102 for 3.1.2. */
  version: number;
  hasAcls: boolean;
  hasXattrs: boolean;
  hasHardLinks: boolean;
}

/** While containers run; what changed since; all that differs; only looking for differences. */
export type CopyPass = 'live' | 'changed' | 'differing' | 'compare';

interface CopyRequest {
  source: string;
  /** What is in the folder of its move and not in the source is deleted, nothing else. */
  target: string;
  /** What there is to copy, for the percentage; 0 if it is not known. */
  totalBytes: number;
}

export function createCopier(environment: Record<string, string>) {
  const abilities = async (): Promise<Abilities | undefined> => {
    const { exitCode, stdout } = await run(
      { argv: ['rsync', '--version'], environment },
      { timeoutMs: 10_000, maxBytes: 64 * 1024 },
    );
    return exitCode === 0 ? parseAbilities(stdout) : undefined;
  };
  return {
    /** @returns why this device cannot copy container data, if so */
    fault: async () => faultOf(await abilities()),
    command: async (pass: CopyPass, request: CopyRequest): Promise<Command> => {
      const { copy, marker, staged, list } = moveFolder(request.target);
      const { options, attributes } = optionsFor(
        (await abilities()) ?? OLDEST,
        await keepsNanoseconds(marker),
      );
      const scripts = [process.execPath, LISTER, STAGE_ONE];
      return {
        argv: [
          ...(['/bin/sh', '-c', PASSES, 'sh', pass] as const),
          ...[request.source, copy, marker, staged, list, String(request.totalBytes)],
          ...[...scripts, 'rsync', ...options, ...(pass === 'compare' ? [] : attributes)],
        ],
        environment,
      };
    },
    /** Removes a folder and all below it. */
    removal: (folder: string): Command => ({ argv: ['rm', '-rf', '--', folder], environment }),
    percentIn: (tail: string): number | undefined => {
      const found = [...tail.matchAll(/^copied (\d+) %\r?$/gm)].at(-1)?.[1];
      return found === undefined ? undefined : Number(found);
    },
    reportIn,
  };
}

const OLDEST: Abilities = { version: 30000, hasAcls: false, hasXattrs: true, hasHardLinks: true };

/** `rsync  version 3.2.7  …`, and the capabilities; `no` stands before those it lacks. */
export function parseAbilities(output: string): Abilities | undefined {
  const [, major, minor, patch] = /^rsync\s+version\s+v?(\d+)\.(\d+)\.(\d+)/.exec(output) ?? [];
  if (major === undefined) return undefined;
  const has = (name: string): boolean =>
    new RegExp(`\\b${name}\\b`).test(output) && !new RegExp(`\\bno ${name}\\b`).test(output);
  return {
    version: Number(major) * 10_000 + Number(minor) * 100 + Number(patch),
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
 * -x: mounts of running containers below the data root show what is copied already. Times are
 * compared to the nanosecond if both sides keep them: rsync by itself looks at whole seconds, and
 * containers write more often.
 */
export function optionsFor(
  { version, hasAcls }: Abilities,
  areNanosecondsKept: boolean,
): { options: string[]; attributes: string[] } {
  const attributes = [hasAcls ? '-AX' : '-X'];
  const options = ['-aHSx', '--numeric-ids', ...KEPT_OUT.map((name) => `--exclude=/${name}`)];
  if (version >= 30100) {
    options.push('--no-human-readable', '--ignore-missing-args');
    // On xfs, ACLs show a second time, as attributes that the source does not have: deleting those
    // would delete the ACLs.
    attributes.push('--filter=-x_trusted.SGI_ACL_*');
  }
  if (version >= 30103 && areNanosecondsKept) options.push('--modify-window=-1');
  return { options, attributes };
}

/** The marker has a time with a fraction, which a file system of whole seconds has lost. */
async function keepsNanoseconds(marker: string): Promise<boolean> {
  return stat(marker, { bigint: true }).then(
    ({ mtimeNs }) => mtimeNs % 1_000_000_000n !== 0n,
    () => false,
  );
}

/** What a comparison has said of itself; undefined if the output has no report. */
export function reportIn(output: string) {
  const numberBehind = (words: string): number =>
    Number(new RegExp(`^${words}: (\\d+)`, 'm').exec(output)?.[1]);
  const report = {
    /** Files of the source of the copy. */
    files: numberBehind('Number of files'),
    bytes: numberBehind('Total file size'),
    /** Things in the copy, counted there. */
    copied: numberBehind('copied things'),
    /** Things that a pass would still change. */
    differences: numberBehind('differences'),
  };
  return Object.values(report).some(Number.isNaN) ? undefined : report;
}
