const FIRST_DELAY_MS = 1000;
const LONGEST_DELAY_MS = 5000;
/** A stream that was there for longer than this comes back after as little: a web server in front ends those that it has had for long. */
const BRIEF_MS = 300;

/**
 * An event stream that comes back where it was. The browser's own does not: it asks for the first address again and says where to go on in a header, which not
 * every web server hands on; and it gives up for good on any answer but 200, such as that of a web server in front while the daemon is away.
 * @param addressOf called for each attempt, so that it can name where to go on
 * @param listeners by event; each gets the data and the event's id
 * @param onDown called after each attempt that failed
 */
export function openStream(addressOf, { listeners, onUp = ignore, onDown = ignore }) {
  let source;
  let timer;
  let delayMs = FIRST_DELAY_MS;

  const open = () => {
    let upSince = Infinity;
    source = new EventSource(addressOf());
    source.addEventListener('open', () => {
      upSince = performance.now();
      onUp();
    });
    source.addEventListener('error', () => {
      const hasGivenUp = source.readyState === EventSource.CLOSED;
      source.close();
      if (performance.now() - upSince > BRIEF_MS) {
        delayMs = FIRST_DELAY_MS;
        timer = setTimeout(open, BRIEF_MS);
        return;
      }
      timer = setTimeout(open, delayMs);
      delayMs = Math.min(2 * delayMs, LONGEST_DELAY_MS);
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
