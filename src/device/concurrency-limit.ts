import { DepotError } from '../errors.ts';

/** Runs work as soon as there is room for it. */
export type ConcurrencyLimit = <Value>(work: () => Promise<Value>) => Promise<Value>;

/**
 * Lets at most `most` pieces of work run at once; up to `mostWaiting` further ones wait in order.
 * Without that bound whoever may ask as often as they like could fill a small device.
 * @param busy what one too many is told
 * @returns a limit, which throws DepotError unavailable if too many wait
 */
export function createConcurrencyLimit({
  most,
  mostWaiting,
  busy,
}: {
  most: number;
  mostWaiting: number;
  busy: string;
}): ConcurrencyLimit {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running < most) running += 1;
    else if (waiting.length >= mostWaiting) throw new DepotError('unavailable', busy);
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      // Handed on to the next in the queue without becoming free in between.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
