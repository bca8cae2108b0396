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
  let source;
  let timer;
  let delayMs = FIRST_DELAY_MS;
  let isClosed = false;

  const wait = (ms) => new Promise((resolve) => (timer = setTimeout(resolve, ms)));
  const open = () => {
    if (isClosed) return;
    let wasOpen = false;
    source = new EventSource(addressOf());
    source.addEventListener('open', () => {
      wasOpen = true;
      delayMs = FIRST_DELAY_MS;
      onUp();
    });
    source.addEventListener('error', () => {
      // The browser's own retry goes on behind the last event, not behind what was asked for since.
      source.close();
      if (wasOpen) onCut();
      void (wasOpen ? wait(FIRST_DELAY_MS).then(open) : askUntilNext());
    });
    for (const [name, listener] of Object.entries(listeners)) {
      source.addEventListener(name, (event) => listener(JSON.parse(event.data), event.lastEventId));
    }
  };
  const askUntilNext = async () => {
    delayMs = Math.min(2 * delayMs, LONGEST_DELAY_MS);
    for (let leftMs = delayMs; leftMs > 0 && !isClosed; leftMs -= POLL_MS) {
      await poll();
      await wait(POLL_MS);
    }
    open();
  };

  open();
  return {
    close: () => {
      isClosed = true;
      clearTimeout(timer);
      source.close();
    },
  };
}

function ignore() {
  // Not everybody wants to know.
}
