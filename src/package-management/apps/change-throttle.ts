/** The shortest pause behind a look, in milliseconds. */
const LEAST_PAUSE_MS = 8;
/** The pause behind a look, as a multiple of what the look took. */
const PAUSE_RATIO = 3;
/** How long it has to be quiet for the last look. */
const REST_MS = 300;

/**
 * Throttle: looks at something after hints that it changed, which come in bursts. Invariants:
 *  - the first hint is followed at once (leading edge);
 *  - a hint during a look, or in the pause behind it, leads to a look that begins after the hint;
 *  - one more look comes when it has been quiet for a while (trailing edge), should the last one
 *    have come in the middle of a write;
 *  - looks take a quarter of the time at most, however many hints come.
 * @param look never rejects
 */
export function createChangeThrottle(look: () => Promise<void>) {
  let isBusy = false;
  let isHinted = false;
  let isClosed = false;
  let pause: NodeJS.Timeout | undefined;
  let rest: NodeJS.Timeout | undefined;
  const start = async (): Promise<void> => {
    isBusy = true;
    isHinted = false;
    const began = performance.now();
    await look();
    if (isClosed) return;
    pause = setTimeout(
      () => {
        isBusy = false;
        if (isHinted) void start();
      },
      Math.max(LEAST_PAUSE_MS, PAUSE_RATIO * (performance.now() - began)),
    );
  };
  const follow = (): void => {
    isHinted = true;
    if (!isBusy) void start();
  };
  return {
    hint: (): void => {
      clearTimeout(rest);
      rest = setTimeout(follow, REST_MS);
      follow();
    },
    close: (): void => {
      isClosed = true;
      clearTimeout(pause);
      clearTimeout(rest);
    },
  };
}
