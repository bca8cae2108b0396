/** What this needs of the client: one POST of a form below the panel's base. It may throw where the daemon cannot be reached. */
export interface PasswdClient {
  /** @returns the HTTP status, and of a refusal what it says */
  postForm: (path: string, form: Record<string, string>) => Promise<{ status: number; msg: string }>;
}

export interface PasswdTools {
  client: PasswdClient;
  /** Standard input. */
  input: AsyncIterable<string | Uint8Array>;
  /** Tells a person, one line. */
  say: (line: string) => void;
}

const DONE = 0;
const FAILED = 1;
const USAGE = 2;
const MOST_BYTES = 16 * 1024;

/**
 * `depotctl passwd`: the first line of standard input is the new password; where one is set already, the second line is the old one.
 * @returns the exit code: 0 set, 1 refused by the daemon, 2 nothing to set
 */
export async function passwd({ client, input, say }: PasswdTools): Promise<number> {
  const [password = '', old = ''] = (await readText(input)).split(/\r?\n/);
  if (password === '') {
    say('cannot set the password: standard input has none; the first line is the new one, the second the old one where one is set');
    return USAGE;
  }
  const { status, msg } = await client.postForm('admin/passwd', { password, ...(old === '' ? {} : { old }) });
  if (status === 204) return DONE;
  say(old === '' && status === 403 ? `${msg} (a second line of standard input is the old password)` : msg);
  return FAILED;
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
