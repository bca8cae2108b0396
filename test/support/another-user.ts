import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';

/** `nobody`, whom nothing belongs to. */
export const ANOTHER_USER = 65_534;

/** Whether this process may act as another user, and be root in its tests. */
export const canBeAnother = process.getuid?.() === 0;

/** Runs a shell script as another user. @returns what it printed */
export function asAnother(script: string, cwd: string): string {
  const { stdout, stderr, status } = spawnSync('/bin/sh', ['-ec', script], {
    cwd,
    uid: ANOTHER_USER,
    gid: ANOTHER_USER,
    encoding: 'utf8',
    timeout: 20_000,
  });
  if (status !== 0) throw new Error(`cannot act as another user: ${stderr}`);
  return stdout;
}

const PROTECTIONS = ['protected_symlinks', 'protected_regular', 'protected_fifos'];

/**
 * Switches off what the kernel may do against links, files and fifos in sticky folders (proc(5)):
 * not every device has it. @returns what switches it on again
 */
export function withoutProtection(): () => void {
  const before = PROTECTIONS.map((name) => {
    const path = `/proc/sys/fs/${name}`;
    return { path, value: readFileSync(path, 'utf8') };
  });
  const write = (path: string, value: string): void => {
    try {
      writeFileSync(path, value);
    } catch {
      // A container may not: its tests find less than others.
    }
  };
  for (const { path } of before) write(path, '0');
  return () => {
    for (const { path, value } of before) write(path, value);
  };
}

/** Everything below a folder: what it is, whose, and what is in it. */
export async function snapshotOf(folder: string): Promise<Record<string, string>> {
  const names = (await readdir(folder, { recursive: true })).sort();
  const entries = await Promise.all(
    ['.', ...names].map(async (name) => {
      const path = join(folder, name);
      const { mode, uid, mtimeMs } = await lstat(path);
      const content = (mode & 0o170000) === 0o100000 ? await readFile(path, 'utf8') : '';
      const target = (mode & 0o170000) === 0o120000 ? await readlink(path) : '';
      return [name, `${mode.toString(8)} ${uid} ${mtimeMs} ${content}${target}`] as const;
    }),
  );
  return Object.fromEntries(entries);
}
