import { createHmac } from 'node:crypto';
import { reasonOf } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { CallerRequest, CallerResponse } from './caller.ts';
import {
  createCacheStore,
  type AnswerWriter,
  type CacheStore,
  type StoredAnswer,
} from './cache-store.ts';
import type { Failure } from './failure.ts';
import type { HeaderLines } from './header-lines.ts';
import type { Reply } from './reply.ts';
import type { Route } from './routes.ts';
import type { ResponseSink } from './upstream/call.ts';
import type { ResponseHead } from './upstream/response-head.ts';

/**
 * Keeps answers for a weak line. Every use is confirmed by the forge first (a 304 saves the body's
 * way); where it cannot be reached the kept answer is given with a `Warning` (RFC 7234, section
 * 5.5.2) and its `Age`. Kept are answers 200 to GET that carry an ETag or a Last-Modified, each for
 * its caller alone; never those with credentials, cookies or `no-store`.
 */
export interface Cache {
  isFor(request: CallerRequest, route: Route): boolean;
  /** @returns undefined where the folder cannot be used, which is logged once */
  attend(visit: Visit): Promise<Attended | undefined>;
}

export interface Visit {
  /** Path and query below the API root. */
  target: string;
  /**
   * What goes to the forge; all of it tells callers apart, but for what says nothing about the
   * answer.
   */
  headers: HeaderLines;
  response: CallerResponse;
  reply: Reply;
}

export interface Attended {
  /** With the question whether the kept answer is still good. */
  headers: HeaderLines;
  sink: Omit<ResponseSink, 'fail'>;
  /** @returns whether the kept answer was given in place of the failure */
  takeFailure: (failure: Failure) => boolean;
  /** The call is not made after all. */
  drop: () => void;
}

export function createCache({
  folder,
  maxBytes,
  log,
}: {
  folder: string;
  maxBytes: number;
  log: Log;
}): Cache {
  const store = createCacheStore({ folder, maxBytes });
  let hasFailed = false;
  return {
    isFor: ({ method, headers }, { needs }) =>
      method === 'GET' &&
      needs === 'read' &&
      headers.range === undefined &&
      !isNoStore(headers['cache-control']),
    attend: async (visit) => {
      try {
        const name = nameOf(visit, await store.secret());
        const kept = await store.find(name);
        return attend({ ...visit, name, kept, store, log });
      } catch (error) {
        if (!hasFailed) log.warn({ reason: reasonOf(error) }, 'forge_cache_failed');
        hasFailed = true;
        return undefined;
      }
    },
  };
}

interface Attendance extends Visit {
  name: string;
  kept: StoredAnswer | undefined;
  store: CacheStore;
  log: Log;
}

/**
 * Says nothing about what the answer is: who relays it, and questions about an answer that the
 * caller has.
 */
const NEUTRAL =
  /^(?:user-agent|referer|priority|dnt|cache-control|pragma|if-none-match|if-modified-since|x-forwarded-for|sec-.*)$/i;

/**
 * The name of a caller's answer. Keyed with the folder's secret, so that no token can be guessed
 * from it.
 */
function nameOf({ target, headers }: Visit, secret: Buffer): string {
  const telling = headers.filter((_, index) => !NEUTRAL.test(headers[index - (index % 2)] ?? ''));
  return createHmac('sha256', secret)
    .update(JSON.stringify([target, telling]))
    .digest('hex');
}

function attend(attendance: Attendance): Attended {
  const { kept, reply, store, name } = attendance;
  const questions = kept === undefined || hasQuestion(attendance.headers) ? [] : questionsFor(kept);
  let writer: AnswerWriter | undefined;
  let isBegun = false;
  let isKeptUsed = false;
  const drop = (): void => {
    writer?.drop();
    if (!isKeptUsed) void kept?.close();
  };
  return {
    headers: [...attendance.headers, ...questions],
    drop,
    sink: {
      head: (head, hasMore) => {
        isBegun = true;
        if (head.status === 304 && questions.length > 0 && kept !== undefined) {
          isKeptUsed = true;
          void give(attendance, kept, {
            ...head,
            status: 200,
            reason: 'OK',
            headers: freshened(kept.headers, head.headers),
          });
          return;
        }
        void kept?.close();
        if (REFUSED.has(head.status)) void store.forget(name);
        if (isKeepable(head)) {
          writer = store.write(name, {
            headers: head.headers,
            storedAt: Math.floor(Date.now() / 1000),
          });
        }
        reply.head(head, hasMore);
      },
      body: (piece, isLast, resume) => {
        writer?.write(piece);
        return reply.body(piece, isLast, resume);
      },
      end: () => {
        writer?.commit();
        if (!isKeptUsed) reply.end();
      },
    },
    takeFailure: (failure) => {
      writer?.drop();
      if (
        isBegun ||
        kept === undefined ||
        (failure.code !== 'upstream_unreachable' && failure.code !== 'upstream_timeout')
      ) {
        if (!isBegun) drop();
        return false;
      }
      isKeptUsed = true;
      const age = Math.max(0, Math.floor(Date.now() / 1000) - kept.storedAt);
      const headers = [
        ...kept.headers,
        'Age',
        `${age}`,
        'Warning',
        '111 depotd "Revalidation Failed"',
      ];
      void give(attendance, kept, { status: 200, reason: 'OK', headers });
      return true;
    },
  };
}

/** Hands a kept answer to the caller, no faster than it takes it. */
async function give(
  { reply, response, log }: Attendance,
  kept: StoredAnswer,
  head: Pick<ResponseHead, 'status' | 'reason' | 'headers'>,
): Promise<void> {
  try {
    reply.head(
      { ...head, framing: { kind: 'close' }, isPersistent: false, keepAliveSeconds: undefined },
      true,
    );
    for await (const piece of kept.body()) {
      if (response.destroyed) return;
      await new Promise<void>((resume) => {
        if (reply.body(piece, false, resume)) resume();
      });
    }
    reply.end();
  } catch (error) {
    log.warn({ reason: reasonOf(error) }, 'forge_cache_failed');
    response.destroy();
  }
}

function questionsFor({ headers }: StoredAnswer): HeaderLines {
  const etag = valueOf(headers, 'etag');
  const modified = valueOf(headers, 'last-modified');
  return [
    ...(etag === undefined ? [] : ['If-None-Match', etag]),
    ...(modified === undefined ? [] : ['If-Modified-Since', modified]),
  ];
}

function hasQuestion(headers: HeaderLines): boolean {
  return headers.some((name, index) => index % 2 === 0 && /^if-/i.test(name));
}

/** The caller may have it no longer, or it is gone. */
const REFUSED = new Set([401, 403, 404, 410]);

function isKeepable({ status, headers, framing }: ResponseHead): boolean {
  // Nobody can tell such an answer from the half of one.
  if (framing.kind === 'close') return false;
  const hasValidator =
    valueOf(headers, 'etag') !== undefined || valueOf(headers, 'last-modified') !== undefined;
  return (
    status === 200 &&
    hasValidator &&
    valueOf(headers, 'set-cookie') === undefined &&
    !isNoStore(valueOf(headers, 'cache-control')) &&
    valueOf(headers, 'vary') !== '*'
  );
}

function isNoStore(cacheControl: string | undefined): boolean {
  return cacheControl !== undefined && /(?:^|[,\s])no-store(?:$|[,\s])/i.test(cacheControl);
}

/**
 * The kept headers with those of a 304 in their place, but for what describes the body (RFC 9111,
 * section 3.2).
 */
function freshened(kept: HeaderLines, update: HeaderLines): HeaderLines {
  const news = update.filter(
    (_, index) =>
      !/^(?:content-.*|transfer-encoding|connection|keep-alive|etag)$/i.test(
        update[index - (index % 2)] ?? '',
      ),
  );
  const names = new Set(
    news.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase()),
  );
  return [
    ...kept.filter((_, index) => !names.has((kept[index - (index % 2)] ?? '').toLowerCase())),
    ...news,
  ];
}

function valueOf(headers: HeaderLines, name: string): string | undefined {
  const index = headers.findIndex(
    (candidate, position) => position % 2 === 0 && candidate.toLowerCase() === name,
  );
  return index === -1 ? undefined : headers[index + 1];
}
