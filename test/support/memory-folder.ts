import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';

const MEMORY = '/dev/shm';
/** What the tests need at most, by far, and what is left to them besides. */
const NEEDED_BYTES = 2 * 1024 ** 3;
const FREE_KIB = 8 * 1024 ** 2;

/**
 * Temporary folders are in memory where it is free: ext4 goes through all files that were removed
 * in the last minutes whenever one is made, a tenth of the tests' processor.
 *
 * @returns what removes the folder; undefined if the usual one serves
 */
export function setup(): (() => void) | undefined {
  if (process.env['TMPDIR'] !== undefined || !hasRoom()) return undefined;
  // Names of sockets below it have 107 characters at most.
  const folder = mkdtempSync(`${MEMORY}/d-`);
  chmodSync(folder, 0o1777);
  process.env['TMPDIR'] = folder;
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    const mount = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .find((line) => line.split(' ')[1] === MEMORY);
    const freeKib = Number(
      /^MemAvailable: +(\d+)/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1],
    );
    return (
      mount !== undefined &&
      !mount.includes('noexec') &&
      bavail * bsize > NEEDED_BYTES &&
      freeKib > FREE_KIB
    );
  } catch {
    return false;
  }
}
