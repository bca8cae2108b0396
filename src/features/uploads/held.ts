import { DepotError } from '../../errors.ts';
import type { ReceivedUpload } from './receive.ts';

/**
 * Files that were sent and wait for a yes. Invariants:
 *  - only the session that sent one knows it;
 *  - each goes by itself after a while, and with the daemon: the next one's start removes it;
 *  - there are few, and together they are no larger than one upload may be.
 */
export type HeldUploads = ReturnType<typeof createHeldUploads>;

const MOST_HELD = 4;
/** How long a file waits for a yes, from its arrival on. */
export const HELD_S = 15 * 60;

/** @param remove removes a file whose time is over */
export function createHeldUploads(remove: (id: string) => Promise<void>) {
  const held = new Map<string, { upload: ReceivedUpload; owner: string; timer: NodeJS.Timeout }>();
  const forget = (id: string): void => {
    clearTimeout(held.get(id)?.timer);
    held.delete(id);
  };
  const find = (id: string, owner: string): ReceivedUpload => {
    const found = held.get(id);
    if (found?.owner === owner) return found.upload;
    throw new DepotError('not_found', 'cannot find the file: send it again');
  };
  return {
    sizeBytes: (): number =>
      [...held.values()].reduce((sum, { upload }) => sum + upload.sizeBytes, 0),
    /** @throws DepotError unavailable if there are too many: then the file is gone */
    hold: async (upload: ReceivedUpload, owner: string): Promise<void> => {
      if (held.size >= MOST_HELD) {
        await remove(upload.id);
        throw new DepotError(
          'unavailable',
          `cannot take the upload: ${MOST_HELD} others wait to be installed or dropped`,
        );
      }
      const timer = setTimeout(() => {
        forget(upload.id);
        void remove(upload.id);
      }, HELD_S * 1000).unref();
      held.set(upload.id, { upload, owner, timer });
    },
    /** @throws DepotError not_found */
    find,
    /** From now on the file is the caller's. @throws DepotError not_found */
    release: (id: string, owner: string): ReceivedUpload => {
      const upload = find(id, owner);
      forget(id);
      return upload;
    },
  };
}
