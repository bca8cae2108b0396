import { DepotError } from '../../errors.ts';
import type { CommandContext } from '../command-context.ts';
import { passwd } from './passwd.ts';
import type { SavedLogins } from '../saved-logins.ts';
import { openSecrets, type Secrets } from '../passwords.ts';
import { isOnThisHost } from '../daemon-target.ts';

export type LoginContext = CommandContext & { logins: SavedLogins };

const EXIT_USAGE = 2;

/** rpcd's user that is on every device. */
const OWNER = 'root';

/** With depotd's own password, or as a user of the device; later commands use the session. */
export async function logIn({ client, output, invocation, logins }: LoginContext): Promise<number> {
  const hasUsers = (await client.loginMethod()) === 'panel';
  if (!hasUsers && invocation.user !== undefined) {
    output.say('cannot use --user: this daemon has one password and no users');
    return EXIT_USAGE;
  }
  return withSecrets(output, async (secrets) => {
    const { url } = invocation.target;
    const username = hasUsers ? await userOf(invocation.user, secrets) : undefined;
    const whose = username === undefined ? url : `${username} at ${url}`;
    const password = await secrets.next(`Password of ${whose}: `);
    // A fresh device's root has none, and who is asked may say so.
    if (password === '' && !(hasUsers && secrets.isAsking)) {
      output.say(
        secrets.isAsking
          ? 'cannot log in without a password'
          : 'cannot log in: standard input has no password',
      );
      return EXIT_USAGE;
    }
    const login = { password, ...(username !== undefined && { username }) };
    await logins.save(invocation.target, await client.logIn(login));
    output.say(
      'logged in; the session ends with logout, after an hour without a command, or with ' +
        'the daemon',
    );
    return 0;
  });
}

/** Whoever is asked may take the usual one; a script names another in an option. */
async function userOf(given: string | undefined, secrets: Secrets): Promise<string> {
  if (given !== undefined || !secrets.isAsking) return given ?? OWNER;
  const typed = await secrets.nextShown(`User (${OWNER}): `);
  return typed === '' ? OWNER : typed;
}

/** Ends the session that was kept, here and at the daemon. */
export async function logOut(context: LoginContext): Promise<number> {
  const { client, output, invocation, logins } = context;
  const session = await logins.load(invocation.target);
  await logins.forget(invocation.target);
  if (session === undefined) {
    output.say('nobody was logged in');
    return 0;
  }
  try {
    await client.post('admin/logout', {});
    output.say('logged out');
  } catch (error) {
    if (!(error instanceof DepotError) || error.code !== 'forbidden') throw error;
    output.say('the session had ended already');
  }
  return 0;
}

export function setPassword({ client, output, invocation }: LoginContext): Promise<number> {
  const tools = { client, isOnThisHost: isOnThisHost(invocation.target), say: output.say };
  return withSecrets(output, (secrets) => passwd({ ...tools, secrets }));
}

async function withSecrets(
  { atInterrupt, interrupt, look: { word } }: CommandContext['output'],
  use: (secrets: Secrets) => Promise<number>,
): Promise<number> {
  const streams = { input: process.stdin, output: process.stderr, word };
  const secrets = openSecrets({ ...streams, atInterrupt: interrupt });
  atInterrupt(() => 'nothing was changed');
  try {
    return await use(secrets);
  } finally {
    atInterrupt(undefined);
    secrets.close();
  }
}

/** What somebody who was refused can do. */
export function howToLogIn({ self, session }: CommandContext['invocation']): string {
  const advice = `log in with: ${self} login`;
  return session === undefined
    ? advice
    : `the session that was given is not valid or has ended; ${advice}`;
}
