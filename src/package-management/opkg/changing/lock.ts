import { lstat, open, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { followTrusted } from '../../../device/private-folder.ts';
import { DepotError, reasonOf } from '../../../errors.ts';
import type { StepContext } from '../../../jobs/plan.ts';
import { waitForLock } from '../../wait-for-lock.ts';

/**
 * Makes the lock file before opkg does, whose creat(2) empties whatever a link of that name leads
 * to, and whatever file of root's a hard link of that name is; on OpenWrt it lies in a folder for
 * everybody. A file of another user locks nothing out: opkg runs as root.
 * @throws DepotError unavailable if it cannot be had
 */
export async function ownLockFile(path: string): Promise<void> {
  const file = join(await followTrusted(dirname(path), 0o755), basename(path));
  for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt += 1) {
    const entry = await lstat(file).catch(() => undefined);
    if (entry?.isFile() === true && entry.uid === process.getuid?.() && entry.nlink === 1) return;
    try {
      await rm(file, { force: true });
      await (await open(file, 'wx', 0o640)).close();
      return;
    } catch (error) {
      if (attempt < MOST_ATTEMPTS) continue;
      const message = `cannot run opkg: its lock file ${path} is not root's: ${reasonOf(error)}`;
      throw new DepotError('unavailable', message, { cause: error });
    }
  }
}

/** Somebody may put their lock file in its place again, in between. */
const MOST_ATTEMPTS = 5;

/** What of opkg's installation it takes to get its lock. */
interface Entrance {
  lockFile: string;
  lockHolder: () => Promise<number | undefined>;
  prepareFolders: () => Promise<void>;
}

/**
 * opkg does not wait for its lock but fails at once, also to read, so the job waits and says so.
 * @returns whether somebody held it: its file is gone then, and any user may put another there
 */
export function waitForOpkg(
  { lockFile: file, lockHolder: findHolder }: Entrance,
  context: Pick<StepContext, 'note' | 'signal'>,
): Promise<boolean> {
  return waitForLock({ purpose: 'run opkg', file, findHolder }, context);
}

/** The same, with what opkg needs to start. */
export async function makeReady(installation: Entrance, context: StepContext): Promise<boolean> {
  await installation.prepareFolders();
  const wasHeld = await waitForOpkg(installation, context);
  if (wasHeld) await installation.prepareFolders();
  return wasHeld;
}
