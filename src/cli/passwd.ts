import { DepotError } from '../errors.ts';
import type { Client } from './client.ts';
import type { Secrets } from './secrets.ts';

export interface PasswdTools {
  client: Pick<Client, 'postForm'>;
  secrets: Secrets;
  /** Tells a person, one line. */
  say: (line: string) => void;
}

const DONE = 0;
const USAGE = 2;

/**
 * `depotctl passwd`: the first line of standard input is the new password; where one is set
 * already, the second line is the old one. At a terminal both are asked for, the new one twice.
 * @returns the exit code: 0 set, 2 nothing to set
 * @throws DepotError where the daemon refuses or cannot be reached
 */
export async function passwd({ client, secrets, say }: PasswdTools): Promise<number> {
  const password = await secrets.next('New password: ');
  if (password === '') {
    say(
      secrets.isAsking
        ? 'cannot set the password: an empty one is none'
        : 'cannot set the password: standard input has none; the first line is the new one, the second the old one where one is set',
    );
    return USAGE;
  }
  if (secrets.isAsking && (await secrets.next('The same again: ')) !== password) {
    say('cannot set the password: the two differ');
    return USAGE;
  }
  const old = await secrets.next('Old password (empty where none is set): ');
  try {
    await client.postForm('admin/passwd', { password, ...(old === '' ? {} : { old }) });
  } catch (error) {
    if (
      secrets.isAsking ||
      old !== '' ||
      !(error instanceof DepotError) ||
      error.code !== 'command_failed'
    ) {
      throw error;
    }
    throw new DepotError(
      error.code,
      `${error.message} (where a password is set already, the second line of standard input is the old one)`,
      { cause: error },
    );
  }
  if (secrets.isAsking) say('the password is set; who was logged in has to log in again');
  return DONE;
}
