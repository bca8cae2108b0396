import { createHash, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, mkdir, open, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DepotError, reasonOf } from '../errors.ts';
import { addressOf, type Target } from './target.ts';

/**
 * Sessions that depotctl keeps between two calls, one an address. What is in no folder of this user
 * alone is as good as not there.
 */
export interface SavedLogins {
  /** @returns the session's cookie; undefined where none is kept */
  load: (target: Target) => Promise<string | undefined>;
  /** @throws DepotError command_failed where it cannot be kept safely */
  save: (target: Target, cookie: string) => Promise<void>;
  forget: (target: Target) => Promise<void>;
}

/** A cookie is short; what is longer is none. */
const MOST_BYTES = 4096;

/**
 * @param runtimeDir a folder of this user alone; undefined: there is none, and one is made below
 *   the folder for temporary files
 */
export function createSavedLogins(runtimeDir: string | undefined): SavedLogins {
  const user = process.getuid?.() ?? 0;
  const folder =
    runtimeDir === undefined ? join(tmpdir(), `depotctl-${user}`) : join(runtimeDir, 'depotctl');
  const fileOf = (target: Target): string =>
    join(folder, createHash('sha256').update(addressOf(target)).digest('hex').slice(0, 32));
  return {
    load: async (target) => ((await isOurs(folder, user)) ? readCookie(fileOf(target)) : undefined),
    save: async (target, cookie) => {
      try {
        await mkdir(folder, { mode: 0o700 }).catch(() => undefined);
        if (!(await isOurs(folder, user))) throw new Error('it is not a folder of this user alone');
        await writeCookie(fileOf(target), cookie);
      } catch (error) {
        throw new DepotError(
          'command_failed',
          `cannot keep the session in ${folder}: ${reasonOf(error)}`,
          { cause: error },
        );
      }
    },
    forget: async (target) => {
      if (await isOurs(folder, user)) await rm(fileOf(target), { force: true });
    },
  };
}

/**
 * In the folder for temporary files anybody may make a folder of this name first, or a link:
 * neither is used.
 */
async function isOurs(folder: string, user: number): Promise<boolean> {
  const stat = await lstat(folder).catch(() => undefined);
  return stat?.isDirectory() === true && stat.uid === user && (stat.mode & 0o077) === 0;
}

async function readCookie(path: string): Promise<string | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MOST_BYTES), 0, MOST_BYTES, 0);
    const cookie = buffer.toString('latin1', 0, bytesRead).trim();
    return /^[\w-]+=[\w-]+$/.test(cookie) ? cookie : undefined;
  } finally {
    await file.close();
  }
}

async function writeCookie(path: string, cookie: string): Promise<void> {
  const temporary = `${path}.${randomBytes(8).toString('hex')}`;
  const file = await open(temporary, 'wx', 0o600);
  try {
    await file.writeFile(`${cookie}\n`);
  } finally {
    await file.close();
  }
  await rename(temporary, path);
}
