import type { Sessions } from './sessions.ts';

/**
 * Calls `onEnd` once, when the session of these headers has ended or cannot be asked for.
 * @returns the function that ends the watch
 */
export type SessionWatch = (headers: Headers, onEnd: () => void) => () => void;

/** With what a look takes, an answer that goes on ends within 2 s of its session. */
const LOOK_MS = 1500;

/**
 * One clock for all: those who are watched are looked at in the same moment, so that the sessions
 * can answer all of them with one question. It stands still while nobody is watched.
 */
export function createSessionWatch({ peek }: Pick<Sessions, 'peek'>): SessionWatch {
  const watched = new Set<() => void>();
  let clock: NodeJS.Timeout | undefined;

  const remove = (look: () => void): void => {
    watched.delete(look);
    if (watched.size > 0) return;
    clearInterval(clock);
    clock = undefined;
  };
  const tick = (): void => {
    for (const look of watched) look();
  };

  return (headers, onEnd) => {
    let isLooking = false;
    const end = (): void => {
      if (!watched.has(look)) return;
      remove(look);
      onEnd();
    };
    const look = (): void => {
      if (isLooking) return;
      isLooking = true;
      peek(headers)
        .then((session) => session === undefined && end(), end)
        .finally(() => (isLooking = false));
    };
    watched.add(look);
    clock ??= setInterval(tick, LOOK_MS);
    return () => remove(look);
  };
}
