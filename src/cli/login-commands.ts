import { DepotError, reasonOf } from '../errors.ts';
import type { CommandContext } from './job-commands.ts';
import { passwd } from './passwd.ts';
import type { SavedLogins } from './saved-logins.ts';
import { openSecrets, type Secrets } from './secrets.ts';

export type LoginContext = CommandContext & { logins: SavedLogins };

const EXIT_USAGE = 2;

/** Logs in with depotd's own password, and keeps the session for the commands that follow. */
export async function logIn({ client, output, invocation, logins }: LoginContext): Promise<number> {
  return withSecrets(async (secrets) => {
    const password = await secrets.next(`Password of ${invocation.target.url}: `);
    if (password === '') {
      output.say(
        secrets.isAsking
          ? 'cannot log in without a password'
          : 'cannot log in: standard input has no password',
      );
      return EXIT_USAGE;
    }
    await logins.save(invocation.target, await client.logIn(password));
    output.say(
      'logged in; the session ends with logout, after an hour without a command, or with the daemon',
    );
    return 0;
  });
}

/** Ends the session that was kept, here and at the daemon. */
export async function logOut({
  client,
  output,
  invocation,
  logins,
}: LoginContext): Promise<number> {
  const cookie = await logins.load(invocation.target);
  await logins.forget(invocation.target);
  if (cookie === undefined) {
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

export function setPassword({ client, output }: LoginContext): Promise<number> {
  return withSecrets((secrets) => passwd({ client, secrets, say: output.say }));
}

async function withSecrets(use: (secrets: Secrets) => Promise<number>): Promise<number> {
  const secrets = openSecrets({ input: process.stdin, output: process.stderr });
  try {
    return await use(secrets);
  } finally {
    secrets.close();
  }
}

/** What somebody who was refused can do, by who it is that logs people in. */
export async function howToLogIn({
  client,
  invocation: { self, session },
}: Pick<CommandContext, 'client' | 'invocation'>): Promise<string> {
  try {
    if (await client.hasLogin()) return `log in with: ${self} login`;
  } catch (error) {
    return reasonOf(error);
  }
  const given =
    session === undefined ? '' : 'the session that was given is not valid or has ended; ';
  return `${given}the device's panel logs people in: give its session, the cookie sysauth_http, with --session or in the variable DEPOTCTL_SESSION`;
}
