/** Runs tasks side by side, at most `most` at a time, in the order in which they came. */
export function createLimiter(
  most: number,
): <Result>(task: () => Promise<Result>) => Promise<Result> {
  const waiting: (() => void)[] = [];
  let free = most;
  return async (task) => {
    if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
    else free -= 1;
    try {
      return await task();
    } finally {
      const next = waiting.shift();
      // Handed on, not given back: nobody may come in between.
      if (next === undefined) free += 1;
      else next();
    }
  };
}
