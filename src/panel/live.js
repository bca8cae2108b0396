import { fetchInSession } from './session-key.js';

const FIRST_DELAY_MS = 1000;
const LONGEST_DELAY_MS = 15_000;
const POLL_MS = 2000;

/**
 * An event stream that comes back. A server in front, such as a CGI relay, cuts streams after a
 * while: then it is opened again at once. It may have no room for one: then, until it has, somebody
 * asks in the stream's place. The two never overlap, so that what one brought the other goes on
 * behind.
 * @param addressOf called for each attempt, so that it can name where to go on
 * @param listeners by event; each gets the data and the event's id
 * @param onCut called when a stream that was open is no more
 * @param poll asks once; called time and again while there is no stream
 */
export function openStream(addressOf, { listeners, onUp = ignore, onCut = ignore, poll }) {
  let abort;
  let timer;
  let delayMs = FIRST_DELAY_MS;
  let isClosed = false;

  const wait = (ms) => new Promise((resolve) => (timer = setTimeout(resolve, ms)));
  const open = async () => {
    if (isClosed) return;
    abort = new AbortController();
    const wasOpen = await readEvents(addressOf(), {
      signal: abort.signal,
      onOpen: () => {
        delayMs = FIRST_DELAY_MS;
        onUp();
      },
      onEvent: (name, data, id) => {
        try {
          if (!isClosed && Object.hasOwn(listeners, name)) listeners[name](JSON.parse(data), id);
        } catch (error) {
          // What is wrong with one event is no reason to miss the next.
          reportError(error);
        }
      },
    });
    if (isClosed) return;
    if (wasOpen) onCut();
    void (wasOpen ? wait(FIRST_DELAY_MS).then(open) : askUntilNext());
  };
  const askUntilNext = async () => {
    delayMs = Math.min(2 * delayMs, LONGEST_DELAY_MS);
    for (let leftMs = delayMs; leftMs > 0 && !isClosed; leftMs -= POLL_MS) {
      await poll();
      await wait(POLL_MS);
    }
    void open();
  };

  void open();
  return {
    close: () => {
      isClosed = true;
      clearTimeout(timer);
      abort?.abort();
    },
  };
}

function ignore() {
  // No caller wants to know: one that does passes a function of its own.
}

/**
 * One event stream (HTML standard, "Server-sent events"), read by fetch: an EventSource sends no
 * header of its own.
 * @returns whether it was open, when it is over
 */
async function readEvents(address, { signal, onOpen, onEvent }) {
  const response = await fetchInSession(address, { signal, cache: 'no-store' }).catch(ignore);
  const type = response?.headers.get('content-type') ?? '';
  if (!response?.ok || !type.startsWith('text/event-stream')) return false;
  onOpen();
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  let rest = '';
  for (;;) {
    // Cut off, or over.
    const { done, value } = await reader.read().catch(() => ({ done: true }));
    if (done) return true;
    const events = (rest + decoder.decode(value, { stream: true })).split('\n\n');
    rest = events.pop();
    for (const event of events) {
      const { event: name, data, id = '' } = fieldsOf(event);
      if (data !== undefined) onEvent(name, data, id);
    }
  }
}

function fieldsOf(event) {
  const lines = event.split('\n').map((line) => /^(\w*): ?(.*)$/s.exec(line));
  return Object.fromEntries(lines.filter(Boolean).map(([, name, value]) => [name, value]));
}
