import { reasonOf } from '../../errors.ts';
import type { PanelBus } from './ports.ts';
import type { Log } from '../../log.ts';
import { cookieValues } from './cookies.ts';
import type { Session } from '../../http/route.ts';
import type { Sessions } from '../../http/sessions.ts';

/** The panel's cookies, over TLS and without, and the older name. */
const COOKIES = ['sysauth_https', 'sysauth_http', 'sysauth'];
/** rpcd's session ids; nothing else is asked for. */
const SESSION_ID = /^[0-9a-f]{32}$/;
/** Of the cookies in one request so many are tried, since each may cost a question. */
const MOST_CANDIDATES = 4;

/** After so long a log-out counts. From when rpcd was asked. */
const KEPT_MS = 2000;
/**
 * An answer older than this is renewed behind the request that it still serves, so that one who
 * asks all the time never waits.
 */
const RENEWED_MS = 1000;
/**
 * So long a session that was valid is asked about before strangers are: a flood of made-up ids does
 * not shut its owner out.
 */
const KNOWN_MS = 300_000;

interface PanelSessionsOptions {
  bus: PanelBus;
  log: Log;
  /** Milliseconds of a clock that is never set back. */
  now?: () => number;
}

/**
 * `main.auth panel`: who is logged in to the panel is logged in here. Invariants:
 *  - an answer serves at most KEPT_MS from when it was asked for; that there is no such session is
 *    not kept at all, for it may come to be;
 *  - at most one question about a session is under way; all who want to know meanwhile get its
 *    answer;
 *  - where the panel cannot be asked, the request fails as `unavailable`: no door opens, and nobody
 *    is told to log in again.
 */
export function createPanelSessions({
  bus,
  log,
  now = () => performance.now(),
}: PanelSessionsOptions): Sessions {
  const known = new Map<string, { session: Session; askedAt: number }>();
  const underWay = new Map<string, Promise<Session | undefined>>();
  const tellReachable = createReachability(log);

  const ask = async (id: string): Promise<Session | undefined> => {
    const askedAt = now();
    for (const [other, entry] of known) {
      if (askedAt - entry.askedAt >= KNOWN_MS) known.delete(other);
    }
    try {
      const login = await bus.findLogin({ id, isKnown: known.has(id) });
      tellReachable(undefined);
      if (login === undefined) {
        known.delete(id);
        return undefined;
      }
      known.set(id, { session: { token: login.token }, askedAt });
      return { token: login.token };
    } catch (error) {
      tellReachable(reasonOf(error));
      throw error;
    }
  };

  const askOnce = (id: string): Promise<Session | undefined> => {
    const asked = underWay.get(id) ?? ask(id).finally(() => underWay.delete(id));
    underWay.set(id, asked);
    return asked;
  };

  const lookUp = async (id: string): Promise<Session | undefined> => {
    const entry = known.get(id);
    const age = entry === undefined ? Infinity : now() - entry.askedAt;
    if (entry === undefined || age >= KEPT_MS) return askOnce(id);
    // Its failure is told to the log, and to the next request when the answer has become too old.
    if (age >= RENEWED_MS) askOnce(id).catch(() => undefined);
    return entry.session;
  };

  const find = async (headers: Headers): Promise<Session | undefined> => {
    for (const id of sessionIds(headers)) {
      const session = await lookUp(id);
      if (session !== undefined) return session;
    }
    return undefined;
  };
  // An answer that goes on keeps the session from becoming idle, as an open page of the panel does
  // that asks again and again.
  return { find, isOpen: async (headers) => (await find(headers)) !== undefined };
}

function sessionIds(headers: Headers): string[] {
  const ids = cookieValues(headers, COOKIES).filter((value) => SESSION_ID.test(value));
  return [...new Set(ids)].slice(0, MOST_CANDIDATES);
}

/** Logs when the panel can no longer be asked and when it can again, not each request between. */
function createReachability(log: Log): (failure: string | undefined) => void {
  let isReachable = true;
  return (failure) => {
    if (failure === undefined && !isReachable) log.info({}, 'panel answers again');
    if (failure !== undefined && isReachable) {
      log.error({ reason: failure }, 'panel cannot be asked');
    }
    isReachable = failure === undefined;
  };
}
