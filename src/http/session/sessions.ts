import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Session } from '../route.ts';

/** Tells who is asking. @throws DepotError unavailable if that cannot be told */
export interface Sessions {
  /**
   * Counts as use of the session, which renews its idle time.
   * @returns undefined if the request carries no valid session
   * @throws DepotError forbidden if it does, and its user has no right to anything here
   */
  find: (headers: Headers) => Promise<Session | undefined>;
  /** Finds a session without counting as use, for what nobody has asked for just now. */
  peek: (headers: Headers) => Promise<Session | undefined>;
}

/** Header with the second half of a session: a page sends it, and no browser by itself. */
export const KEY_HEADER = 'x-depotd-key';

/** The headers of a request that a session is known by. */
export function sessionPart(valueOf: (name: string) => string | null | undefined): Headers {
  const headers = new Headers();
  for (const name of ['cookie', KEY_HEADER, 'accept']) {
    const value = valueOf(name);
    if (value) headers.set(name, value);
  }
  return headers;
}

export function newToken(): string {
  return randomBytes(24).toString('base64url');
}

/** Takes a secret out of the reach of whoever measures how long a look-up takes. */
export function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}

/** Compares in a time that tells nothing; the hashes make the lengths equal. */
export function isSameSecret(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(hashOf(a)), Buffer.from(hashOf(b)));
}

/**
 * `main.auth none`: whoever reaches the daemon is the owner. The token is one for the daemon's run.
 * @param former that of the run before takes this one's place. Called once, for the first request
 */
export function createOpenSessions(
  former: (token: string) => Promise<string | undefined> = () => Promise.resolve(undefined),
): Sessions {
  let session: Promise<Session> | undefined;
  const open = async (): Promise<Session> => {
    const token = newToken();
    return { user: '', token, formerToken: await former(token), mayWrite: true };
  };
  const find = (): Promise<Session> => (session ??= open());
  return { find, peek: find };
}
