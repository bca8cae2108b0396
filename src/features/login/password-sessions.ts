import type { Session } from '../../http/route.ts';
import { hashOf } from '../../http/session/sessions.ts';
import {
  halvesIn,
  keysOfCookies,
  newSession,
  randomSecret,
  type NewSession,
} from './session-cookie.ts';

export type PasswordSessions = ReturnType<typeof createPasswordSessions>;

/** A session ends when nothing has been asked with it for so long. */
const IDLE_MS = 3_600_000;
/** One owner has a few browsers; beyond this the session that was quiet longest ends. */
const MOST_SESSIONS = 64;

/**
 * They end with the daemon. An id is made here alone: one that a request brings is only looked up,
 * so that nobody can plant it. @param now milliseconds of a clock that is never set back
 */
export function createPasswordSessions(now: () => number = () => performance.now()) {
  /** By the hash of their key, in the order of their last use; `cookie` is a hash, too. */
  const sessions = new Map<string, { cookie: string; session: Session; usedAt: number }>();
  const use = (key: string, entry: { cookie: string; session: Session }): Session => {
    sessions.delete(key);
    sessions.set(key, { ...entry, usedAt: now() });
    return entry.session;
  };
  const removeOld = (): void => {
    for (const [key, { usedAt }] of sessions) {
      if (now() - usedAt < IDLE_MS && sessions.size <= MOST_SESSIONS) return;
      sessions.delete(key);
    }
  };
  /** The key of both halves of the session. */
  const keyIn = (headers: Headers): string | undefined => {
    removeOld();
    const { ids, key = '' } = halvesIn(headers);
    return ids.has(sessions.get(key)?.cookie ?? '') ? key : undefined;
  };
  return {
    find: (headers: Headers): Promise<Session | undefined> => {
      const key = keyIn(headers) ?? '';
      const entry = sessions.get(key);
      return Promise.resolve(entry === undefined ? undefined : use(key, entry));
    },
    peek: (headers: Headers) => Promise.resolve(sessions.get(keyIn(headers) ?? '')?.session),
    /** Starts a session in place of those whose cookie the request comes with. */
    begin: (headers: Headers): NewSession => {
      for (const key of keysOfCookies(sessions, headers)) sessions.delete(key);
      const { id, key } = newSession();
      const session = { user: '', token: randomSecret(), mayWrite: true };
      use(hashOf(key), { cookie: hashOf(id), session });
      removeOld();
      return { id, key };
    },
    /** Ends the sessions that a request comes with. */
    end: (headers: Headers) => void sessions.delete(keyIn(headers) ?? ''),
    endAll: () => sessions.clear(),
  };
}
