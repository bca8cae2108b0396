import type { Session } from '../../http/route.ts';
import type { Sessions } from '../../http/session/sessions.ts';
import { halvesIn, keyOf, newSession, randomSecret, type NewSession } from './session-cookie.ts';

/** The sessions of `main.auth password`. They end with the daemon. */
export interface PasswordSessions extends Sessions {
  /** Starts a session in place of those whose cookie the request comes with. */
  begin: (headers: Headers) => NewSession;
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
  /** By the hash of their key, in the order in which they were last used; `id` is a hash, too. */
  const sessions = new Map<string, { id: string; session: Session; usedAt: number }>();
  const use = (key: string, { id, session }: { id: string; session: Session }): Session => {
    sessions.delete(key);
    sessions.set(key, { id, session, usedAt: now() });
    return session;
  };
  const removeOld = (): void => {
    for (const [key, { usedAt }] of sessions) {
      if (now() - usedAt < IDLE_MS && sessions.size <= MOST_SESSIONS) return;
      sessions.delete(key);
    }
  };
  /** That of both halves. */
  const keyIn = (headers: Headers): string | undefined => {
    removeOld();
    const { ids, key = '' } = halvesIn(headers);
    return ids.has(sessions.get(key)?.id ?? '') ? key : undefined;
  };
  const endByCookie = (headers: Headers): void => {
    const { ids } = halvesIn(headers);
    for (const [key, { id }] of sessions) if (ids.has(id)) sessions.delete(key);
  };
  return {
    find: (headers) => {
      const key = keyIn(headers) ?? '';
      const entry = sessions.get(key);
      return Promise.resolve(entry === undefined ? undefined : use(key, entry));
    },
    peek: (headers) => Promise.resolve(sessions.get(keyIn(headers) ?? '')?.session),
    begin: (headers) => {
      endByCookie(headers);
      const { id, key } = newSession();
      const session = { user: '', token: randomSecret(), mayWrite: true };
      use(keyOf(key), { id: keyOf(id), session });
      removeOld();
      return { id, key };
    },
    end: (headers) => void sessions.delete(keyIn(headers) ?? ''),
    endAll: () => sessions.clear(),
  };
}
