import { DepotError } from '../errors.ts';
import type { Client } from './client.ts';

export interface PasswdTools {
  client: Pick<Client, 'postForm'>;
  /** Standard input. */
  input: AsyncIterable<string | Uint8Array>;
  /** Tells a person, one line. */
  say: (line: string) => void;
}

const DONE = 0;
const USAGE = 2;
const MOST_BYTES = 16 * 1024;

/**
 * `depotctl passwd`: the first line of standard input is the new password; where one is set already, the second line is the old one.
 * @returns the exit code: 0 set, 2 nothing to set
 * @throws DepotError where the daemon refuses or cannot be reached
 */
export async function passwd({ client, input, say }: PasswdTools): Promise<number> {
  const [password = '', old = ''] = (await readText(input)).split(/\r?\n/);
  if (password === '') {
    say('cannot set the password: standard input has none; the first line is the new one, the second the old one where one is set');
    return USAGE;
  }
  try {
    await client.postForm('admin/passwd', { password, ...(old === '' ? {} : { old }) });
  } catch (error) {
    if (old !== '' || !(error instanceof DepotError) || error.code !== 'command_failed') throw error;
    throw new DepotError(error.code, `${error.message} (where a password is set already, the second line of standard input is the old one)`, { cause: error });
  }
  return DONE;
}

async function readText(input: AsyncIterable<string | Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of input) {
    const buffer = Buffer.from(piece);
    pieces.push(buffer);
    bytes += buffer.length;
    if (bytes > MOST_BYTES) break;
  }
  return Buffer.concat(pieces).toString('utf8');
}
