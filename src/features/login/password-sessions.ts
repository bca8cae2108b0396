import type { Session } from '../../http/route.ts';
import type { Sessions } from '../../http/sessions.ts';
import { keyOf, keysIn, randomSecret } from './session-cookie.ts';

/** The sessions of `main.auth password`. They end with the daemon. */
export interface PasswordSessions extends Sessions {
  /**
   * Starts a session in place of those that the request comes with.
   * @returns its id, for the cookie; nothing else knows it
   */
  begin: (headers: Headers) => string;
  /** Ends the sessions that a request comes with. */
  end: (headers: Headers) => void;
  endAll: () => void;
}

/** A session ends when nothing has been asked with it for so long. */
const IDLE_MS = 3_600_000;
/** One owner has a few browsers; beyond this the session that was quiet longest ends. */
const MOST_SESSIONS = 64;

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
  const removeOld = (): void => {
    for (const [key, { usedAt }] of sessions) {
      if (now() - usedAt < IDLE_MS && sessions.size <= MOST_SESSIONS) return;
      sessions.delete(key);
    }
  };
  return {
    find: (headers) => {
      removeOld();
      for (const key of keysIn(headers)) {
        const entry = sessions.get(key);
        if (entry !== undefined) return Promise.resolve(use(key, entry.session));
      }
      return Promise.resolve(undefined);
    },
    peek: (headers) => {
      removeOld();
      const [found] = keysIn(headers).flatMap((key) => sessions.get(key)?.session ?? []);
      return Promise.resolve(found);
    },
    begin: (headers) => {
      for (const key of keysIn(headers)) sessions.delete(key);
      const id = randomSecret();
      use(keyOf(id), { user: '', token: randomSecret(), mayWrite: true });
      removeOld();
      return id;
    },
    end: (headers) => {
      for (const key of keysIn(headers)) sessions.delete(key);
    },
    endAll: () => sessions.clear(),
  };
}
