import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../../device/durable-file.ts';
import { isThere } from '../../device/is-there.ts';
import { isSameSecret } from '../../http/session/sessions.ts';
import { randomSecret } from './session-cookie.ts';

/**
 * The content of a file that only root can read, for who sets the first password. A user id would
 * not do: a container on the host's network is root on a loopback connection, too.
 */
export type FirstPassword = ReturnType<typeof createFirstPassword>;

/** @param stateDir a folder that only the daemon's user writes to */
export function createFirstPassword(stateDir: string) {
  const file = join(stateDir, 'first-password');
  let proof: string | undefined;
  /** Single flight: two at once would write the same temporary file. */
  let offering: Promise<void> | undefined;
  const writeProof = async (): Promise<void> => {
    const isOffered = proof !== undefined && (await isThere(file));
    proof ??= randomSecret();
    // The proof is not written at each request, which anybody here can send: it is on flash.
    if (!isOffered) await replaceFile(file, `${proof}\n`);
  };
  return {
    /** Absolute path of the file with the proof. */
    file,
    /** Writes the file if it is not there yet. */
    offer: (): Promise<void> => (offering ??= writeProof().finally(() => (offering = undefined))),
    /** Whether it is the proof, which serves once: not for two requests at a time either. */
    redeem: (text: string): boolean => {
      if (proof === undefined || !isSameSecret(text, proof)) return false;
      proof = undefined;
      return true;
    },
    withdraw: async (): Promise<void> => {
      proof = undefined;
      await rm(file, { force: true });
    },
  };
}
