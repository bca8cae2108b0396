import { execFile } from 'node:child_process';
import { readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { promisify } from 'node:util';

export const command = promisify(execFile);

export const MIB = 1024 ** 2;
const LOOK_MS = 20;

/**
 * Whether this machine lets us make loop disks (root's to make, and not in every container) and has
 * the programs named.
 */
export async function canLoop(programs: readonly string[]): Promise<boolean> {
  const file = join(tmpdir(), `depotd-loop-${process.pid}`);
  try {
    for (const program of programs) await command('sh', ['-c', 'command -v "$1"', 'sh', program]);
    await emptyImage(file, 1);
    await detach(await attach(file));
    return true;
  } catch {
    return false;
  } finally {
    await rm(file, { force: true });
  }
}

export async function emptyImage(file: string, sizeMib: number): Promise<void> {
  await writeFile(file, '');
  await truncate(file, sizeMib * MIB);
}

/** @returns the device, `/dev/loop0` */
export async function attach(file: string): Promise<string> {
  return (await command('losetup', ['-f', '--show', file])).stdout.trim();
}

/**
 * Resolves when the kernel has let go: it waits for the last program that has the device open
 * (loop(4)), which may be another test's blkid.
 */
export async function detach(device: string): Promise<void> {
  const attribute = `/sys/block/${basename(device)}/loop/backing_file`;
  const backingFile = (): Promise<string> => readFile(attribute, 'utf8').catch(() => '');
  const file = await backingFile();
  await command('losetup', ['-d', device]);
  while (file !== '' && (await backingFile()) === file) await after(LOOK_MS);
}
