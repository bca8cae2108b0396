import { reasonOf } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { Rpcd, RpcdSession } from './rpcd.ts';

/** After so long a log-out counts. From when rpcd was asked. */
const KEPT_MS = 2000;
/** Stale-while-revalidate: older answers are refreshed in the background. */
const RENEWED_MS = 1000;
/** So long a session that was valid goes ahead of strangers: made-up ids shut no owner out. */
const KNOWN_MS = 300_000;

interface Lookup {
  session: RpcdSession;
  askedAt: number;
  /** When the session was last found, by a list or by its id. */
  seenAt: number;
}

export interface LookupTools {
  rpcd: Pick<Rpcd, 'find' | 'list'>;
  log: Log;
  /** Milliseconds of a clock that is never set back. */
  now?: () => number;
}

interface Question {
  answer: Promise<RpcdSession | undefined>;
}

/**
 * rpcd's sessions by their ids, asked for no more often than needed.
 *
 * Invariants:
 *  - an answer serves at most KEPT_MS from when it was asked for; that there is no such session is
 *    not kept at all, for it may come to be;
 *  - single flight: at most one question about a session is under way, and at most one for all;
 *    concurrent callers share its answer;
 *  - if rpcd cannot be asked, the request fails as `unavailable`: nobody is let in, and nobody is
 *    told to log in again.
 */
export function createSessionLookups({ rpcd, log, now = () => performance.now() }: LookupTools) {
  const known = new Map<string, Lookup>();
  const underWay = new Map<string, Question>();
  const reportReachable = createReachability(log);
  let listing: Promise<Map<string, RpcdSession>> | undefined;

  const reported = async <Value>(question: Promise<Value>): Promise<Value> => {
    try {
      const answer = await question;
      reportReachable(undefined);
      return answer;
    } catch (error) {
      reportReachable(reasonOf(error));
      throw error;
    }
  };

  const ask = async (id: string, question: Question): Promise<RpcdSession | undefined> => {
    const askedAt = now();
    for (const [other, entry] of known) {
      if (askedAt - entry.seenAt >= KNOWN_MS) known.delete(other);
    }
    const session = await reported(rpcd.find({ id, isKnown: known.has(id) }));
    // Kept only if it was not forgotten meanwhile: the answer may be older than the log-out.
    if (session === undefined) known.delete(id);
    else if (underWay.get(id) === question) known.set(id, { session, askedAt, seenAt: askedAt });
    return session;
  };

  const askOnce = (id: string): Promise<RpcdSession | undefined> => {
    const under = underWay.get(id);
    if (under !== undefined) return under.answer;
    const question: Question = { answer: Promise.resolve(undefined) };
    underWay.set(id, question);
    question.answer = ask(id, question).finally(() => {
      if (underWay.get(id) === question) underWay.delete(id);
    });
    return question.answer;
  };

  const list = (): Promise<Map<string, RpcdSession>> =>
    (listing ??= reported(rpcd.list()).finally(() => (listing = undefined)));

  return {
    /** Counts as use of the session, now or a moment ago. */
    find: async (id: string): Promise<RpcdSession | undefined> => {
      const entry = known.get(id);
      const age = entry === undefined ? Infinity : now() - entry.askedAt;
      if (entry === undefined || age >= KEPT_MS) return askOnce(id);
      // Its failure goes to the log, and to the next request when the answer has become too old.
      if (age >= RENEWED_MS) askOnce(id).catch(() => undefined);
      return entry.session;
    },
    /** Does not count as use unless only that can tell. */
    peek: async (id: string): Promise<RpcdSession | undefined> => {
      const entry = known.get(id);
      // A list is long: strangers do not make rpcd write it.
      if (entry === undefined) return askOnce(id);
      const listed = (await list()).get(id);
      // ubusd leaves out what does not fit its queue, and a pattern may grant what no name does.
      if (listed?.mayRead !== true) return askOnce(id);
      entry.seenAt = now();
      return listed;
    },
    /** rpcd has just said this of it: who logs in does not stand behind strangers from then on. */
    learn: (session: RpcdSession): void => {
      known.set(session.id, { session, askedAt: now(), seenAt: now() });
    },
    /** Forgets a session: the next one who wants to know asks rpcd anew. */
    forget: (id: string): void => {
      known.delete(id);
      underWay.delete(id);
    },
  };
}

/** Logs when rpcd can no longer be asked and when it can again, not each request between. */
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
