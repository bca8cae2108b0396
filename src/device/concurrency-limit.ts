import { DepotError } from '../errors.ts';

/** Runs work as soon as it is its turn. */
export type Turns = <Value>(work: () => Promise<Value>) => Promise<Value>;

/**
 * Lets at most `most` pieces of work run at once; up to `mostWaiting` further ones wait in order.
 * Keeps strangers, who may ask as often as they like, from filling a small device with processes.
 * @param name what is waited for, for the message
 * @returns Turns, which throws DepotError unavailable where too many wait
 */
export function createTurns({
  name,
  most,
  mostWaiting,
}: {
  name: string;
  most: number;
  mostWaiting: number;
}): Turns {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running < most) running += 1;
    else if (waiting.length < mostWaiting) {
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else {
      throw new DepotError(
        'unavailable',
        `cannot ask ${name}: ${mostWaiting} requests wait for it already`,
      );
    }
    try {
      return await work();
    } finally {
      // The place goes to the next in the queue without becoming free in between.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
