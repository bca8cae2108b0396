import type { Context } from 'hono';
import type { PeerUsers } from '../../device/peer-user.ts';
import { DepotError } from '../../errors.ts';
import { Refusal } from '../../http/respond.ts';
import type { Sessions } from '../../http/session/sessions.ts';
import type { Log } from '../../log.ts';
import type { AttemptLimit } from './attempt-limit.ts';
import { attemptSource, type AttemptSource } from './attempt-source.ts';

/** What every way to log in has. */
export interface AttemptTools {
  /** Sessions of the log-in mode in force. */
  sessions: Sessions;
  limit: AttemptLimit;
  peerUsers: PeerUsers;
  log: Log;
}

/**
 * After too many wrong passwords none is looked at. `wrong` is what is said of a wrong one.
 * @param check undefined if it is wrong
 * @throws DepotError too_many_attempts, forbidden
 */
export async function attempt<Value>(
  { sessions, wrong, limit, peerUsers, log }: AttemptTools & { wrong: string },
  context: Context,
  check: (source: AttemptSource) => Promise<Value | undefined>,
): Promise<Value> {
  // If it cannot be told whose session it is, the attempt counts like a stranger's.
  const session = await sessions.peek(context.req.raw.headers).catch(() => undefined);
  const source = await attemptSource(context, { session, peerUsers });
  const waitS = limit.begin(source.limits);
  if (waitS > 0) {
    const message = `cannot log in: too many wrong attempts; try again in ${waitS} s`;
    const headers = { 'Retry-After': String(waitS) };
    throw new Refusal('too_many_attempts', message, { headers });
  }
  const result = await check(source).catch((error: unknown) => {
    limit.cancel(source.limits);
    throw error;
  });
  if (result === undefined) {
    log.warn({ address: source.address }, 'wrong password');
    throw new DepotError('forbidden', wrong);
  }
  limit.forgive(source.limits);
  return result;
}
