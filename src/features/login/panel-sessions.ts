import { DepotError, reasonOf } from '../../errors.ts';
import type { Session } from '../../http/route.ts';
import { hashOf } from '../../http/session/sessions.ts';
import { isSessionId, type Rpcd, type RpcdSession } from './rpcd.ts';
import {
  cookieValues,
  halvesIn,
  keysOfCookies,
  newSession,
  randomSecret,
  type NewSession,
} from './session-cookie.ts';
import { createSessionLookups, type LookupTools } from './session-lookups.ts';

export type PanelSessions = ReturnType<typeof createPanelSessions>;

/**
 * Where rpcd's session comes from, and so when it ends with the one that stands for it:
 *  - `own`: begun for it; always;
 *  - `handed over`: another page's, which gave it; at a log-out;
 *  - `shared`: another page's, which rpcd gave because a change of the configuration waits to be
 *    confirmed there; never, or the change would be taken back.
 */
export type Origin = 'own' | 'handed over' | 'shared';

/** LuCI's cookies, over TLS and without, and the older name. */
const PANEL_COOKIES = ['sysauth_https', 'sysauth_http', 'sysauth'];
/** Most of LuCI's cookies that are tried in one request: each may cost a question. */
const MOST_CANDIDATES = 4;
/** One user has a few browsers; beyond this the session of the user that began first ends. */
const MOST_SESSIONS_A_USER = 32;

interface StandIn {
  /** rpcd's session. */
  id: string;
  /** Hash of the cookie's value. */
  cookie: string;
  username: string;
  token: string;
  origin: Origin;
}

/** A session that a request may come from. */
interface Candidate {
  /** rpcd's session. */
  id: string;
  /** The daemon's own, by its key; undefined for LuCI's cookie. */
  key?: string;
}

/**
 * The sessions of `main.auth panel`: each stands for one of rpcd's and ends with it. Invariants:
 *  - an id for a cookie is made here and nowhere else: one that a request brings is only ever
 *    compared, so that nobody can plant it;
 *  - a cookie counts with the key that was made with it and with no other, LuCI's own as it comes;
 *  - who has an own cookie is asked for at rpcd like who has LuCI's: nothing here outlives it.
 */
export function createPanelSessions(tools: LookupTools & { rpcd: Rpcd }) {
  const { rpcd, log } = tools;
  const lookups = createSessionLookups(tools);
  /** Sessions by the hash of their key, in the order in which they began. */
  const standIns = new Map<string, StandIn>();

  const destroy = async (id: string): Promise<void> => {
    lookups.forget(id);
    await rpcd.destroy(id);
    // An answer that was under way meanwhile may have been kept again.
    lookups.forget(id);
  };

  /** Those who replace a session do not wait for rpcd; what it keeps all the same times out. */
  const end = (key: string): void => {
    const standIn = standIns.get(key);
    standIns.delete(key);
    if (standIn?.origin !== 'own') return;
    destroy(standIn.id).catch((error: unknown) =>
      log.warn({ reason: reasonOf(error) }, 'session of the panel not ended'),
    );
  };

  const sessionOf = ({ key }: Candidate, found: RpcdSession): Session | undefined => {
    // A session that LuCI has not finished has no token.
    const token = key === undefined ? found.token : standIns.get(key)?.token;
    if (token === undefined) return undefined;
    return { user: found.username, token, mayWrite: found.mayWrite };
  };

  const findBy = async (
    headers: Headers,
    lookUp: (id: string) => Promise<RpcdSession | undefined>,
  ): Promise<Session | undefined> => {
    let refused: RpcdSession | undefined;
    for (const candidate of candidatesIn(standIns, headers)) {
      const found = await lookUp(candidate.id);
      if (found === undefined && candidate.key !== undefined) standIns.delete(candidate.key);
      if (found?.mayRead === false) refused = found;
      const session = found?.mayRead === true ? sessionOf(candidate, found) : undefined;
      if (session !== undefined) return session;
    }
    if (refused !== undefined) throw noRight(refused.username);
    return undefined;
  };

  return {
    find: (headers: Headers) => findBy(headers, lookups.find),
    peek: (headers: Headers) => findBy(headers, lookups.peek),
    /** Begins a session in place of those whose cookie the request comes with. */
    begin: (headers: Headers, session: RpcdSession, origin: Origin): NewSession => {
      const { id, username } = session;
      for (const key of keysOfCookies(standIns, headers)) end(key);
      const begun = newSession();
      const cookie = hashOf(begun.id);
      standIns.set(hashOf(begun.key), { id, cookie, username, token: randomSecret(), origin });
      for (const key of surplusOf(standIns, username)) end(key);
      lookups.learn(session);
      return begun;
    },
    /** Ends the session of that token, which the request comes with. */
    logOut: async (headers: Headers, token: string): Promise<void> => {
      for (const candidate of candidatesIn(standIns, headers)) {
        const found = await lookups.find(candidate.id);
        if (found === undefined || sessionOf(candidate, found)?.token !== token) continue;
        const origin = candidate.key === undefined ? 'own' : standIns.get(candidate.key)?.origin;
        if (candidate.key !== undefined) standIns.delete(candidate.key);
        if (origin !== 'shared') await destroy(candidate.id);
        return;
      }
    },
  };
}

function candidatesIn(standIns: ReadonlyMap<string, StandIn>, headers: Headers): Candidate[] {
  const { ids, key = '' } = halvesIn(headers);
  const standIn = standIns.get(key);
  const own = standIn && ids.has(standIn.cookie) ? [{ id: standIn.id, key }] : [];
  const panels = new Set(cookieValues(headers, PANEL_COOKIES).filter(isSessionId));
  return [...own, ...[...panels].map((id) => ({ id }))].slice(0, MOST_CANDIDATES);
}

function surplusOf(standIns: ReadonlyMap<string, StandIn>, username: string): string[] {
  const keys = [...standIns].flatMap(([key, standIn]) =>
    standIn.username === username ? [key] : [],
  );
  return keys.slice(0, -MOST_SESSIONS_A_USER);
}

export function noRight(username: string): DepotError {
  return new DepotError(
    'forbidden',
    `cannot let "${username.slice(0, 64)}" in: rpcd's access group depotd does not allow it`,
  );
}
