import { closeSync, constants, fstatSync, lstatSync, openSync, rmSync } from 'node:fs';
import { systemCode } from '../errors.ts';
import { READ } from './owner-file.ts';

/**
 * Opens a file that is there to be locked, and makes it if need be. Whoever can open a file can
 * lock it by flock(2), and so can who had it open before it was closed to others: one that others
 * may have opened makes way for a new one. Read-only suffices, also on a read-only file system.
 * @param file in a folder that nobody else can write
 * @returns a descriptor that the caller closes
 * @throws an Error of Node if the file can be neither opened nor made, as without room for it
 */
export function openLockFile(file: string): number {
  const descriptor = openIfThere(file);
  if (descriptor !== undefined) {
    if (isOwnAlone(descriptor)) return descriptor;
    closeSync(descriptor);
  }
  if (lstatSync(file, { throwIfNoEntry: false }) !== undefined) rmSync(file, { recursive: true });
  return openSync(file, READ | constants.O_CREAT, 0o600);
}

/** Whether the name still leads to the file: another process may have replaced it meanwhile. */
export function isStillAt(file: string, descriptor: number): boolean {
  const [entry, opened] = [lstatSync(file, { throwIfNoEntry: false }), fstatSync(descriptor)];
  return entry?.ino === opened.ino && entry.dev === opened.dev;
}

function openIfThere(file: string): number | undefined {
  try {
    return openSync(file, READ);
  } catch (error) {
    if (['ENOENT', 'ELOOP', 'ENXIO'].includes(systemCode(error) ?? '')) return undefined;
    throw error;
  }
}

function isOwnAlone(descriptor: number): boolean {
  const entry = fstatSync(descriptor);
  return entry.isFile() && entry.uid === process.getuid?.() && (entry.mode & 0o077) === 0;
}
