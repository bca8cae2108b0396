import { reasonOf } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { AnswerWriter } from './answer-writer.ts';
import { answerName, isUsableFor, variedHeaders } from './cache-key.ts';
import type { CallerRequest, CallerResponse } from './caller.ts';
import { createCacheStore, type CacheStore, type StoredAnswer } from './cache-store.ts';
import type { Failure } from './failure.ts';
import { valueOf, type HeaderLines } from './header-lines.ts';
import type { Reply } from './reply.ts';
import type { Route } from './routes.ts';
import type { ResponseSink } from './upstream/call.ts';
import type { ResponseHead } from './upstream/response-head.ts';

/**
 * Keeps answers for a weak line, each for its caller alone. While the forge answers, it is asked
 * each time: whether the kept answer is still good, if that has an ETag or a Last-Modified (a 304
 * saves the body's way), else for the whole. While it cannot be reached the kept answer is given
 * with a `Warning` (RFC 7234, section 5.5.2) and its `Age`. Never kept are answers with
 * credentials, cookies or `no-store`.
 */
export interface Cache {
  isFor(request: CallerRequest, route: Route): boolean;
  /** @returns undefined if the folder cannot be used, which is logged once */
  lookUp(lookup: CacheLookup): Promise<Revalidation | undefined>;
}

export interface CacheLookup {
  /** Path and query below the API root. */
  target: string;
  /** What goes to the forge. */
  headers: HeaderLines;
  response: CallerResponse;
  reply: Reply;
}

export interface Revalidation {
  /** With the question whether the kept answer is still good. */
  headers: HeaderLines;
  sink: Omit<ResponseSink, 'fail'>;
  /** @returns whether the stored answer was sent instead of the failure */
  serveStale: (failure: Failure) => boolean;
  /** The call is not made after all. */
  cancel: () => void;
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
    lookUp: async (lookup) => {
      try {
        const name = answerName(lookup, await store.secret());
        const kept = await usable(await store.find(name), lookup.headers);
        return revalidate({ ...lookup, name, kept, store, log });
      } catch (error) {
        if (!hasFailed) log.warn({ reason: reasonOf(error) }, 'forge_cache_failed');
        hasFailed = true;
        return undefined;
      }
    },
  };
}

async function usable(
  kept: StoredAnswer | undefined,
  request: HeaderLines,
): Promise<StoredAnswer | undefined> {
  if (kept === undefined) return undefined;
  const coding = valueOf(kept.headers, 'content-encoding');
  if (isUsableFor({ varied: kept.varied, coding }, request)) return kept;
  await kept.close();
  return undefined;
}

interface Exchange extends CacheLookup {
  name: string;
  kept: StoredAnswer | undefined;
  store: CacheStore;
  log: Log;
}

function revalidate(exchange: Exchange): Revalidation {
  const { kept, reply, store, name } = exchange;
  const questions = kept === undefined || hasQuestion(exchange.headers) ? [] : questionsFor(kept);
  let writer: AnswerWriter | undefined;
  let isBegun = false;
  let isKeptUsed = false;
  const cancel = (): void => {
    writer?.discard();
    if (!isKeptUsed) void kept?.close();
  };
  return {
    headers: [...exchange.headers, ...questions],
    cancel,
    sink: {
      head: (head, hasMore) => {
        isBegun = true;
        if (head.status === 304 && questions.length > 0 && kept !== undefined) {
          isKeptUsed = true;
          const headers = freshened(kept.headers, head.headers);
          void replyWith(exchange, kept, {
            ...head,
            status: kept.status,
            reason: kept.reason,
            headers,
          });
          return;
        }
        void kept?.close();
        if (REFUSED.has(head.status)) void store.forget(name);
        if (isKeepable(head)) writer = store.write(name, aboutAnswer(head, exchange));
        reply.head(head, hasMore);
      },
      body: (piece, isLast, resume) => passOn({ reply, writer }, { piece, isLast, resume }),
      end: () => {
        writer?.commit();
        if (!isKeptUsed) reply.end();
      },
    },
    serveStale: (failure) => {
      writer?.discard();
      if (isBegun || kept === undefined || !isAway(failure)) {
        if (!isBegun) cancel();
        return false;
      }
      isKeptUsed = true;
      void replyWith(exchange, kept, staleHead(kept));
      return true;
    },
  };
}

/** No faster than both the caller and the disk: what waits for either is held in memory. */
function passOn(
  { reply, writer }: { reply: Reply; writer: AnswerWriter | undefined },
  { piece, isLast, resume }: { piece: Buffer; isLast: boolean; resume: () => void },
): boolean {
  if (writer === undefined) return reply.body(piece, isLast, resume);
  let waiting = 2;
  const done = (): void => {
    waiting -= 1;
    if (waiting === 0) resume();
  };
  const isCopied = writer.write(piece, done);
  const isAccepted = reply.body(piece, isLast, done);
  if (isCopied && isAccepted) return true;
  if (isCopied || isAccepted) done();
  return false;
}

function aboutAnswer(
  { status, reason, headers }: ResponseHead,
  { headers: request }: Exchange,
): Pick<StoredAnswer, 'status' | 'reason' | 'headers' | 'varied' | 'storedAt'> {
  const varied = variedHeaders(valueOf(headers, 'vary'), request);
  return { status, reason, headers, varied, storedAt: Math.floor(Date.now() / 1000) };
}

/** Whether the forge cannot be reached, and not the request is at fault. */
function isAway({ code }: Failure): boolean {
  return code === 'upstream_unreachable' || code === 'upstream_timeout';
}

/** With one `Age`: a cache before the forge may have sent its own (RFC 9111, section 4.2.3). */
function staleHead({ status, reason, headers, storedAt }: StoredAnswer): ReplyHead {
  const before = Number(/^\d{1,9}$/.exec(valueOf(headers, 'age') ?? '')?.[0] ?? 0);
  const age = before + Math.max(0, Math.floor(Date.now() / 1000) - storedAt);
  const kept = headers.filter((_, index) => !/^age$/i.test(headers[index - (index % 2)] ?? ''));
  const warning = ['Age', `${age}`, 'Warning', '111 depotd "Revalidation Failed"'];
  return { status, reason, headers: [...kept, ...warning] };
}

type ReplyHead = Pick<ResponseHead, 'status' | 'reason' | 'headers'>;

/** Hands a kept answer to the caller, no faster than it takes it. */
async function replyWith(
  { reply, response, log }: Exchange,
  kept: StoredAnswer,
  head: ReplyHead,
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
  return (
    (status === 200 || status === 204) &&
    valueOf(headers, 'set-cookie') === undefined &&
    !isNoStore(valueOf(headers, 'cache-control')) &&
    !/(?:^|,)\s*\*\s*(?:,|$)/.test(valueOf(headers, 'vary') ?? '')
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
