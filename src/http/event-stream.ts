/**
 * One event of a stream (HTML standard, "Server-sent events"). `data` is sent as JSON on one line.
 */
export interface StreamEvent {
  event: string;
  id?: string;
  data: unknown;
}

/** A comment this often keeps proxies from closing a quiet stream. */
export const PING_MS = 15_000;

/** How often it is looked whether the session is still there. */
const LOOK_MS = 2000;

interface StreamOptions {
  signals: AbortSignal[];
  /** Whether the session that it was opened with is still there. */
  isSessionOpen: () => Promise<boolean>;
}

/**
 * Answers with events as the source gives them. The source is asked for the next event only when
 * the client has taken the last one, so a slow client costs no memory; `undefined` from it sends a
 * comment. When the client goes, one of `signals` aborts, or the session has ended or cannot be
 * asked for, so does the source's.
 */
export function eventStream(
  source: (signal: AbortSignal) => AsyncGenerator<StreamEvent | undefined, void>,
  { signals, isSessionOpen }: StreamOptions,
): Response {
  const abort = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const look = (): void => {
    isSessionOpen().then(
      (isOpen) => isOpen || abort.abort(),
      () => abort.abort(),
    );
  };
  const encoder = new TextEncoder();
  const events = source(AbortSignal.any([abort.signal, ...signals]));
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(encoder.encode(':\n\n')),
    pull: async (controller) => {
      // Not before: the answer to HEAD is a stream that nobody reads.
      timer ??= setInterval(look, LOOK_MS);
      const next = await events.next();
      if (next.done === true) {
        clearInterval(timer);
        controller.close();
      } else {
        controller.enqueue(encoder.encode(next.value === undefined ? ':\n\n' : format(next.value)));
      }
    },
    cancel: async () => {
      clearInterval(timer);
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
  return `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
}
