import type { Context } from 'hono';
import { DepotError } from '../../errors.ts';
import { clientOf } from '../../http/peer.ts';
import { Refusal } from '../../http/respond.ts';
import { attempt, type AttemptTools } from './attempts.ts';
import { isRoot } from './attempt-source.ts';
import type { FirstPassword } from './first-password.ts';
import type { LoginMethod } from './login-method.ts';
import type { PasswordSessions } from './password-sessions.ts';
import type { Password } from './password.ts';

export interface PasswordLoginTools extends AttemptTools {
  sessions: PasswordSessions;
  password: Password;
  firstPassword: FirstPassword;
}

/** `main.auth password`: one password, depotd's own. */
export function createPasswordLogin(tools: PasswordLoginTools): LoginMethod {
  const { sessions, password } = tools;
  return {
    // The forge's paths lie beside main.base.
    cookiePath: '/',
    form: async () => ({ asksUser: false, isPasswordSet: await password.isSet() }),
    logIn: async (context, { password: text = '' }) => {
      if (text === '') throw missing('password');
      if (!(await password.isSet())) {
        throw new DepotError(
          'forbidden',
          'cannot log in: no password is set; root sets one on the device: depotctl passwd',
        );
      }
      await check(tools, context, text);
      return sessions.begin(context.req.raw.headers);
    },
    logOut: (headers) => {
      sessions.end(headers);
    },
  };
}

/** The first password only root may set: what it gives, installing files, is root's. */
export async function setPassword(
  tools: PasswordLoginTools,
  context: Context,
  { text, old, proof }: { text: string; old: string | undefined; proof: string | undefined },
): Promise<void> {
  const { sessions, password, firstPassword, log } = tools;
  if (await password.isSet()) {
    if (old === undefined) {
      const message = 'cannot set the password without the parameter old: one is set already';
      throw new DepotError('forbidden', message);
    }
    await check(tools, context, old);
    await password.set(text);
  } else {
    const isProven =
      isRoot(clientOf(context)) || (proof !== undefined && firstPassword.redeem(proof));
    if (!isProven) throw await proofMissing(firstPassword, context);
    await password.setFirst(text);
  }
  await firstPassword.withdraw();
  sessions.endAll();
  log.warn({ address: clientOf(context).address }, 'password set');
}

/** The refusal without a proof of being root; on this device it names the file that has it. */
async function proofMissing(firstPassword: FirstPassword, context: Context): Promise<Refusal> {
  const { via, isForwarded } = clientOf(context);
  const isHere = via !== 'network' && !isForwarded;
  if (isHere) await firstPassword.offer();
  return new Refusal(
    'forbidden',
    'cannot set the first password: only root on the device may, with: depotctl passwd',
    { members: isHere ? { proof_file: firstPassword.file } : {} },
  );
}

const WRONG = 'cannot log in: the password is wrong';

async function check(tools: PasswordLoginTools, context: Context, text: string): Promise<void> {
  await attempt({ ...tools, wrong: WRONG }, context, async (source) =>
    (await tools.password.matches(text, source)) ? true : undefined,
  );
}

export function missing(name: string): DepotError {
  return new DepotError('bad_request', `cannot use the parameter ${name}: it is missing`);
}
