import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { DepotError, reasonOf, systemCode } from '../errors.ts';

const FILE_NAME = 'first-password';
const MOST_BYTES = 256;

/**
 * What the daemon wrote so that only root can read it. Whoever answers in the daemon's place gets
 * nothing else: the file must have that very name, be this user's alone, and hold one such text.
 * @throws DepotError command_failed
 */
export async function readProof(path: string, isOnThisHost: boolean): Promise<string> {
  if (!isOnThisHost || basename(path) !== FILE_NAME || !path.startsWith('/')) {
    throw refusal('it has to be done on the device itself');
  }
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch(
    (error: unknown) => {
      throw refusal(systemCode(error) === 'EACCES' ? 'only root may' : reasonOf(error));
    },
  );
  try {
    const stat = await file.stat();
    if (!stat.isFile() || stat.uid !== process.getuid?.() || (stat.mode & 0o077) !== 0) {
      throw refusal(`${path} is not a file of this user alone`);
    }
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MOST_BYTES), 0, MOST_BYTES, 0);
    const text = buffer.toString('latin1', 0, bytesRead);
    if (!/^[\w-]{43}\n$/.test(text)) throw refusal(`${path} holds no proof`);
    return text.trim();
  } finally {
    await file.close();
  }
}

function refusal(reason: string): DepotError {
  return new DepotError('command_failed', `cannot set the first password: ${reason}`);
}
