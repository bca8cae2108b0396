import { createHash, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, open, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isPrivateFolder, openPrivateFolder } from '../device/private-folder.ts';
import { DepotError, reasonOf } from '../errors.ts';
import type { LoginSession } from './http-call.ts';
import { addressOf, type Target } from './daemon-target.ts';

/** Sessions kept between two calls, one an address, in a folder of this user alone. */
export type SavedLogins = ReturnType<typeof createSavedLogins>;

/** A session is short; what is longer is none. */
const MOST_BYTES = 4096;

/**
 * @param runtimeDir a folder of this user alone; undefined, or somebody else's, as `su` leaves it:
 *   one is made below the folder for temporary files
 */
export function createSavedLogins(runtimeDir: string | undefined) {
  const fileIn = (folder: string, target: Target): string =>
    join(folder, createHash('sha256').update(addressOf(target)).digest('hex').slice(0, 32));
  const findFolder = async (): Promise<string | undefined> => {
    const folder = await folderBelow(runtimeDir);
    return (await isOurs(folder)) ? folder : undefined;
  };
  return {
    /** @returns the log-in for a daemon; undefined if none is kept */
    load: async (target: Target): Promise<LoginSession | undefined> => {
      const folder = await findFolder();
      return folder === undefined ? undefined : readSession(fileIn(folder, target));
    },
    /** @throws DepotError command_failed if it cannot be kept safely */
    save: async (target: Target, session: LoginSession): Promise<void> => {
      const folder = await folderBelow(runtimeDir);
      try {
        if (!(await isOurs(folder, { isMade: true }))) {
          throw new Error('it is not a folder of this user alone');
        }
        await writeSession(fileIn(folder, target), session);
      } catch (error) {
        const message = `cannot keep the session in ${folder}: ${reasonOf(error)}`;
        throw new DepotError('command_failed', message, { cause: error });
      }
    },
    forget: async (target: Target): Promise<void> => {
      const folder = await findFolder();
      if (folder !== undefined) await rm(fileIn(folder, target), { force: true });
    },
  };
}

async function folderBelow(runtimeDir: string | undefined): Promise<string> {
  const user = process.getuid?.() ?? 0;
  const owner =
    runtimeDir === undefined ? undefined : await lstat(runtimeDir).catch(() => undefined);
  return runtimeDir !== undefined && owner?.uid === user
    ? join(runtimeDir, 'depotctl')
    : join(tmpdir(), `depotctl-${user}`);
}

/** In the folder for temporary files anybody may make this folder first, or a link: not used. */
async function isOurs(folder: string, { isMade = false } = {}): Promise<boolean> {
  const opened = await openPrivateFolder(folder, { isMade }).catch(() => undefined);
  await opened?.close();
  return opened !== undefined && isPrivateFolder(folder);
}

/** The cookie, a blank and the key. */
async function readSession(path: string): Promise<LoginSession | undefined> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch(
    () => undefined,
  );
  if (file === undefined) return undefined;
  const { buffer, bytesRead } = await file.read(Buffer.alloc(MOST_BYTES), 0, MOST_BYTES, 0);
  const text = buffer.toString('latin1', 0, bytesRead).trim();
  const [, cookie, key] = /^([\w-]+=[\w-]+) ([\w-]+)$/.exec(text) ?? [];
  return cookie === undefined ? undefined : { cookie, key };
}

async function writeSession(path: string, { cookie, key }: LoginSession): Promise<void> {
  const temporary = `${path}.${randomBytes(8).toString('hex')}`;
  await writeFile(temporary, `${cookie} ${key ?? ''}\n`, { flag: 'wx', mode: 0o600 });
  await rename(temporary, path);
}
