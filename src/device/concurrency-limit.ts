import { DepotError } from '../errors.ts';

/** Runs work as soon as there is room. `client`: for whom; default: all is for the same one. */
export type ConcurrencyLimit = <Value>(
  work: () => Promise<Value>,
  client?: string,
) => Promise<Value>;

interface Waiting {
  begin: () => void;
  refuse: () => void;
}

/**
 * Lets at most `most` pieces of work run at once; up to `mostWaiting` further ones wait. Without
 * that bound whoever may ask as often as they like could fill a small device. Invariants:
 * - clients take turns (round robin), and each one's work runs in order;
 * - when too many wait, the client with the most loses its newest to one that has fewer.
 * @param busy what one too many is told
 * @returns a limit, which throws DepotError unavailable if too many wait
 */
export function createConcurrencyLimit(
  limit: Readonly<{ most: number; mostWaiting: number; busy: string }>,
): ConcurrencyLimit {
  const { most, mostWaiting, busy } = limit;
  /** Queues by client; whose turn is next comes first. */
  const queues = new Map<string, Waiting[]>();
  let running = 0;
  let waiting = 0;
  const wait = (client: string): Promise<void> => {
    if (waiting < mostWaiting) waiting += 1;
    else if (!makeRoom(queues, client)) throw new DepotError('unavailable', busy);
    return new Promise((begin, reject) => {
      const refuse = (): void => reject(new DepotError('unavailable', busy));
      queues.set(client, [...(queues.get(client) ?? []), { begin, refuse }]);
    });
  };
  return async (work, client = '') => {
    if (running < most) running += 1;
    else await wait(client);
    try {
      return await work();
    } finally {
      // Handed on to the next in turn without becoming free in between.
      const next = shiftNext(queues);
      if (next === undefined) running -= 1;
      else {
        waiting -= 1;
        next.begin();
      }
    }
  };
}

/** Runs work one after the other, in order, whether what was before it failed or not. */
export function createSequence() {
  let last: Promise<unknown> = Promise.resolve();
  return <Result>(work: () => Promise<Result>): Promise<Result> => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };
}

function shiftNext(queues: Map<string, Waiting[]>): Waiting | undefined {
  const [turn] = queues;
  if (turn === undefined) return undefined;
  const [client, [next, ...others]] = turn;
  queues.delete(client);
  if (others.length > 0) queues.set(client, others);
  return next;
}

function makeRoom(queues: Map<string, Waiting[]>, client: string): boolean {
  const [longest = []] = [...queues.values()].sort((one, other) => other.length - one.length);
  if (longest.length <= (queues.get(client)?.length ?? 0) + 1) return false;
  longest.pop()?.refuse();
  return true;
}
