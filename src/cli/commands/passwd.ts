import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { DepotError, reasonOf, systemCode } from '../../errors.ts';
import type { Client } from '../daemon-client.ts';
import type { Secrets } from '../passwords.ts';

export interface PasswdTools {
  client: Pick<Client, 'setPassword'>;
  /** Whether the daemon is on this host, so that what it asks for may be read. */
  isOnThisHost: boolean;
  secrets: Secrets;
  /** Tells a person, one line. */
  say: (line: string) => void;
}

const EXIT_USAGE = 2;

/**
 * `depotctl passwd`: the first line of standard input is the new password; if one is set
 * already, the second line is the old one. At a terminal both are asked for, the new one twice.
 * @returns the exit code: 0 set, 2 nothing to set
 * @throws DepotError if the daemon refuses or cannot be reached
 */
export async function passwd({ client, isOnThisHost, secrets, say }: PasswdTools): Promise<number> {
  const password = await secrets.next('New password: ');
  if (password === '') {
    say(
      secrets.isAsking
        ? 'cannot set the password: an empty one is none'
        : 'cannot set the password: standard input has none; the first line is the new one, ' +
            'the second the old one where one is set',
    );
    return EXIT_USAGE;
  }
  if (secrets.isAsking && (await secrets.next('The same again: ')) !== password) {
    say('cannot set the password: the two differ');
    return EXIT_USAGE;
  }
  const old = await secrets.next('Old password (empty where none is set): ');
  try {
    await send({ client, isOnThisHost }, { password, ...(old === '' ? {} : { old }) });
  } catch (error) {
    throw secrets.isAsking || old !== '' ? error : withHint(error);
  }
  if (secrets.isAsking) say('the password is set; who was logged in has to log in again');
  return 0;
}

/** The first password goes with the proof that the daemon then asks for. */
async function send(
  { client, isOnThisHost }: Pick<PasswdTools, 'client' | 'isOnThisHost'>,
  form: { password: string; old?: string },
): Promise<void> {
  const file = await client.setPassword(form);
  if (file === undefined) return;
  const proof = await readProof(file, isOnThisHost);
  if ((await client.setPassword({ ...form, proof })) !== undefined) {
    const message = `cannot set the first password: the daemon did not take what is in ${file}`;
    throw new DepotError('command_failed', message);
  }
}

/** What may be missing is the old password. */
function withHint(error: unknown): unknown {
  if (!(error instanceof DepotError) || !error.message.includes('parameter old')) return error;
  const message = `${error.message} (the second line of standard input is the old one)`;
  return new DepotError(error.code, message, { cause: error });
}

const FILE_NAME = 'first-password';
const MOST_BYTES = 256;

/**
 * What the daemon wrote so that only root can read it. Whoever answers in the daemon's place gets
 * nothing else: the file must have that very name, be this user's alone, and hold one such text.
 * @throws DepotError command_failed
 */
async function readProof(path: string, isOnThisHost: boolean): Promise<string> {
  if (!isOnThisHost || basename(path) !== FILE_NAME || !path.startsWith('/')) {
    throw refusal('it has to be done on the device itself');
  }
  await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch(
    (error: unknown) => {
      throw refusal(systemCode(error) === 'EACCES' ? 'only root may' : reasonOf(error));
    },
  );
  const stat = await file.stat();
  if (!stat.isFile() || stat.uid !== process.getuid?.() || (stat.mode & 0o077) !== 0) {
    throw refusal(`${path} is not a file of this user alone`);
  }
  const { buffer, bytesRead } = await file.read(Buffer.alloc(MOST_BYTES), 0, MOST_BYTES, 0);
  const text = buffer.toString('latin1', 0, bytesRead);
  if (!/^[\w-]{43}\n$/.test(text)) throw refusal(`${path} holds no proof`);
  return text.trim();
}

function refusal(reason: string): DepotError {
  return new DepotError('command_failed', `cannot set the first password: ${reason}`);
}
