import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { REPOSITORY, type Release } from './packages.ts';

/** Where nothing tells better: the same bytes from the same sources, all the same. */
const UNKNOWN = 1_700_000_000;

/**
 * The time that every file of a package gets, so that the same sources give the same bytes,
 * whenever and wherever they are packed.
 * @returns Unix seconds: SOURCE_DATE_EPOCH (reproducible-builds.org), else that of the newest
 *   commit
 */
export function releaseTime(repository: string): number {
  const given = process.env.SOURCE_DATE_EPOCH;
  if (given !== undefined) {
    if (!/^\d{1,11}$/.test(given)) {
      throw new Error(`cannot use SOURCE_DATE_EPOCH ${given}: Unix seconds are expected`);
    }
    return Number(given);
  }
  const { status, stdout } = spawnSync('git', ['log', '-1', '--format=%ct'], {
    cwd: repository,
    encoding: 'utf8',
  });
  return status === 0 && /^\d+\n$/.test(stdout) ? Number(stdout) : UNKNOWN;
}

/** opkg, apk and dpkg order numbers alike, but not what may stand behind them. */
export function thisRelease(given?: string): Release {
  const about = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8')) as {
    version: string;
  };
  const version = given ?? about.version;
  if (!/^\d+(\.\d+)*$/.test(version)) {
    throw new Error(`cannot make packages of version ${version}: numbers and points are expected`);
  }
  return { version, modifiedAt: releaseTime(REPOSITORY) };
}
