import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The tests need some hundred MB of it. */
const FREE_KIB = 8 * 1024 ** 2;
const MOUNT_OPTIONS = 'size=4g,mode=1777';

/**
 * Root's temporary folders are in memory if it is free: ext4 goes through all files that were
 * removed in the last minutes whenever one is made, a tenth of the tests' processor.
 *
 * @returns what removes the folder; undefined if the usual one serves
 */
export function setup(): (() => void) | undefined {
  // vitest asks once a project, and whoever names a folder means it.
  if (process.env['TMPDIR'] !== undefined) return undefined;
  // The real apk takes a root in memory for a device that is lost at the next boot, and refuses.
  if (process.env['APK'] !== undefined) return undefined;
  if (process.getuid?.() !== 0 || freeKib() < FREE_KIB) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'd-'));
  const remove = (): void => {
    process.off('exit', remove);
    // Whatever still works in it keeps what it has open.
    spawnSync('umount', ['--lazy', folder]);
    rmdirSync(folder);
  };
  // After Ctrl-C nobody is asked to remove anything.
  process.on('exit', remove);
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', MOUNT_OPTIONS, 'depotd', folder]);
  if (status === 0) process.env['TMPDIR'] = folder;
  return remove;
}

function freeKib(): number {
  const text = readFileSync('/proc/meminfo', 'utf8');
  return Number(/^MemAvailable: +(\d+)/m.exec(text)?.[1] ?? 0);
}
