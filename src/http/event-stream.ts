/** One event of a stream (HTML standard, "Server-sent events"); `data` is JSON on one line. */
export interface StreamEvent {
  event: string;
  id?: string;
  data: unknown;
}

/** A comment this often keeps proxies from closing a quiet stream. */
export const PING_MS = 15_000;

interface StreamOptions {
  signals: AbortSignal[];
  /** Calls back when the session that it was opened with is no longer there. */
  watchSession: (onEnd: () => void) => () => void;
}

/**
 * The source is asked for the next event only when the client has taken the last one, so a slow
 * client costs no memory; `undefined` from it sends a comment. Its signal aborts when the client
 * goes, one of `signals` aborts, or the session has ended or cannot be asked for.
 */
export function eventStream(
  source: (signal: AbortSignal) => AsyncGenerator<StreamEvent | undefined, void>,
  { signals, watchSession }: StreamOptions,
): Response {
  const abort = new AbortController();
  let endWatch: (() => void) | undefined;
  const encoder = new TextEncoder();
  const events = source(AbortSignal.any([abort.signal, ...signals]));
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(encoder.encode(':\n\n')),
    pull: async (controller) => {
      // The session is watched from the first read on: nobody reads the answer to HEAD.
      endWatch ??= watchSession(() => abort.abort());
      const next = await events.next().catch((error: unknown) => {
        endWatch?.();
        throw error;
      });
      if (next.done === true) {
        endWatch();
        controller.close();
      } else {
        controller.enqueue(encoder.encode(next.value === undefined ? ':\n\n' : format(next.value)));
      }
    },
    cancel: async () => {
      endWatch?.();
      abort.abort();
      await events.return(undefined);
    },
  });
  const headers = {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    'x-content-type-options': 'nosniff',
  };
  return new Response(body, { headers });
}

function format({ event, id, data }: StreamEvent): string {
  const position = id === undefined ? '' : `id: ${id}\n`;
  return `event: ${event}\n${position}data: ${JSON.stringify(data)}\n\n`;
}
