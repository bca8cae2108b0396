import { dirname } from 'node:path';
import { hasEntry } from './device/is-there.ts';
import { isPrivateFolder, openPrivateFolder } from './device/private-folder.ts';
import { DepotError, reasonOf } from './errors.ts';
import type { Listeners } from './http/listeners.ts';
import type { Log } from './log.ts';

/**
 * The owner's socket: who connects is the owner, as it lies in a folder of root's. Without it
 * depotctl needs a log-in. @param path empty: none is wanted
 */
export async function openOwnerSocket(
  path: string,
  { listeners, log }: { listeners: Listeners; log: Log },
): Promise<void> {
  if (path === '') return;
  const folder = dirname(path);
  try {
    // A folder that was open to others is not closed and used: who knows what they left in it.
    if ((await hasEntry(folder)) && !(await isPrivateFolder(folder))) {
      const message = `cannot use the folder ${folder}: it is not a folder of this user alone`;
      throw new DepotError('unavailable', message);
    }
    // Each folder on the way is root's, too: what was looked at cannot be replaced afterwards.
    await (await openPrivateFolder(folder)).close();
    await listeners.listenForOwner(path);
  } catch (error) {
    log.warn({ reason: reasonOf(error) }, 'no socket for root: depotctl needs a log-in');
  }
}
