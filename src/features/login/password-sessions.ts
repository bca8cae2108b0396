import { createHash, randomBytes } from 'node:crypto';
import { cookieValues } from './cookies.ts';
import type { Session } from '../../http/route.ts';
import type { Sessions } from '../../http/sessions.ts';

/**
 * The sessions of the daemon's own log-in. They end with the daemon. An answer that goes on is no
 * use of its session.
 */
export interface PasswordSessions extends Sessions {
  /** Starts a session. @returns its id, for the cookie; nothing else knows it */
  begin: () => string;
  /** Ends the sessions that a request comes with. */
  end: (headers: Headers) => void;
  endAll: () => void;
}

export const SESSION_COOKIE = 'depotd_session';

/** A session ends when nothing has been asked with it for so long. */
const IDLE_MS = 3_600_000;
/** One owner has a few browsers; beyond this the session that was quiet longest ends. */
const MOST_SESSIONS = 64;
const SECRET_BYTES = 32;
/** Of the cookies in one request so many are looked at. */
const MOST_CANDIDATES = 4;

/**
 * `main.auth password`. An id is made here and nowhere else: one that a request brings is only ever
 * looked up, so that nobody can plant it.
 * @param now milliseconds of a clock that is never set back: a router's jumps by decades when it
 *   learns the time
 */
export function createPasswordSessions(
  now: () => number = () => performance.now(),
): PasswordSessions {
  /** By the hash of their id, in the order in which they were last used. */
  const sessions = new Map<string, { session: Session; usedAt: number }>();
  const use = (key: string, session: Session): Session => {
    sessions.delete(key);
    sessions.set(key, { session, usedAt: now() });
    return session;
  };
  const dropOld = (): void => {
    for (const [key, { usedAt }] of sessions) {
      if (now() - usedAt < IDLE_MS && sessions.size <= MOST_SESSIONS) return;
      sessions.delete(key);
    }
  };
  return {
    find: (headers) => {
      dropOld();
      for (const key of keysIn(headers)) {
        const entry = sessions.get(key);
        if (entry !== undefined) return Promise.resolve(use(key, entry.session));
      }
      return Promise.resolve(undefined);
    },
    isOpen: (headers) => {
      dropOld();
      return Promise.resolve(keysIn(headers).some((key) => sessions.has(key)));
    },
    begin: () => {
      const id = randomSecret();
      use(keyOf(id), { token: randomSecret() });
      dropOld();
      return id;
    },
    end: (headers) => {
      for (const key of keysIn(headers)) sessions.delete(key);
    },
    endAll: () => sessions.clear(),
  };
}

function keysIn(headers: Headers): string[] {
  return cookieValues(headers, [SESSION_COOKIE]).slice(0, MOST_CANDIDATES).map(keyOf);
}

/** The hash takes the id out of the reach of whoever measures how long a look-up takes. */
function keyOf(id: string): string {
  return createHash('sha256').update(id).digest('base64url');
}

function randomSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}
