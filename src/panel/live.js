const FIRST_DELAY_MS = 1000;
const LONGEST_DELAY_MS = 15_000;

/**
 * An event stream that comes back. The browser's own comes back after a lost connection, but gives up for good on any answer but 200,
 * such as that of a web server in front while the daemon is away.
 * @param addressOf called for each attempt of ours, so that it can name where to go on
 * @param listeners by event; each gets the data and the event's id
 */
export function openStream(addressOf, { listeners, onUp = ignore, onDown = ignore }) {
  let source;
  let timer;
  let delayMs = FIRST_DELAY_MS;

  const open = () => {
    source = new EventSource(addressOf());
    source.addEventListener('open', () => {
      delayMs = FIRST_DELAY_MS;
      onUp();
    });
    source.addEventListener('error', () => {
      const hasGivenUp = source.readyState === EventSource.CLOSED;
      if (hasGivenUp) {
        timer = setTimeout(open, delayMs);
        delayMs = Math.min(2 * delayMs, LONGEST_DELAY_MS);
      }
      onDown({ hasGivenUp });
    });
    for (const [name, listener] of Object.entries(listeners)) {
      source.addEventListener(name, (event) => listener(JSON.parse(event.data), event.lastEventId));
    }
  };

  open();
  return {
    close: () => {
      clearTimeout(timer);
      source.close();
    },
  };
}

function ignore() {
  // Not everybody wants to know.
}
