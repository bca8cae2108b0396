/** One event as a browser's EventSource would give it (HTML standard, "Server-sent events"). */
export interface ReceivedEvent {
  event: string;
  id: string | undefined;
  data: unknown;
}

export interface EventReader {
  /** The next event; undefined when the stream has ended. Comments are passed over. */
  readonly next: () => Promise<ReceivedEvent | undefined>;
  /** Reads until the stream ends. */
  readonly rest: () => Promise<ReceivedEvent[]>;
  /** Goes away, as a browser does that loses its connection. */
  readonly close: () => void;
}

export async function openEvents(
  url: string,
  { lastEventId, headers = {} }: { lastEventId?: string; headers?: Record<string, string> } = {},
): Promise<EventReader> {
  const abort = new AbortController();
  const answer = await fetch(url, {
    signal: abort.signal,
    headers: { ...headers, ...(lastEventId !== undefined && { 'Last-Event-ID': lastEventId }) },
  });
  if (
    answer.body === null ||
    answer.headers.get('content-type') !== 'text/event-stream; charset=utf-8'
  ) {
    throw new Error(`cannot follow ${url}: ${answer.status} ${await answer.text()}`);
  }
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  const next = async (): Promise<ReceivedEvent | undefined> => {
    for (;;) {
      const end = text.indexOf('\n\n');
      if (end >= 0) {
        const event = parseEvent(text.slice(0, end));
        text = text.slice(end + 2);
        if (event !== undefined) return event;
        continue;
      }
      const { done, value } = await reader.read();
      if (done) return undefined;
      text += value;
    }
  };
  const rest = async (): Promise<ReceivedEvent[]> => {
    const events: ReceivedEvent[] = [];
    for (let event = await next(); event !== undefined; event = await next()) events.push(event);
    return events;
  };
  return { next, rest, close: () => abort.abort() };
}

/** @returns undefined for a comment */
function parseEvent(text: string): ReceivedEvent | undefined {
  const fields = new Map(
    text
      .split('\n')
      .map(
        (line) =>
          [
            line.slice(0, line.indexOf(':')),
            line.slice(line.indexOf(':') + 1).replace(/^ /, ''),
          ] as const,
      ),
  );
  const data = fields.get('data');
  return data === undefined
    ? undefined
    : {
        event: fields.get('event') ?? 'message',
        id: fields.get('id'),
        data: JSON.parse(data) as unknown,
      };
}
