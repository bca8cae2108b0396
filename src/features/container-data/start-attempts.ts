import type { Launch } from './engine/engine.ts';

/**
 * From a command's end to its effect, such as the socket of an engine that it has put into the
 * background.
 */
const EFFECT_MS = 10_000;
const SEEN_EFFECT_MS = 3000;

export type StartAttempts = ReturnType<typeof createStartAttempts>;

/**
 * Runs a service manager's command as often as it takes, but no two at a time and only so often.
 */
export function createStartAttempts({
  launch,
  most,
}: {
  launch: () => Promise<Launch>;
  most: number;
}) {
  let count = 0;
  let isRunning = false;
  let quietUntil = 0;
  const isFree = (): boolean => !isRunning && performance.now() >= quietUntil;
  return {
    /** Runs it if it does not run, and has had time to show its effect. */
    need: async (): Promise<void> => {
      if (!isFree() || count >= most) return;
      count += 1;
      isRunning = true;
      const { ended } = await launch();
      void ended.then(() => {
        isRunning = false;
        quietUntil = performance.now() + EFFECT_MS;
      });
    },
    /** It shows effect: when that is gone again, the next run need not wait for it. */
    seen: (): void => {
      quietUntil = Math.min(quietUntil, performance.now() + SEEN_EFFECT_MS);
    },
    isFree,
    hasRun: () => count > 0,
    /** Whether it has run as often as it may, without effect. */
    isGivenUp: () => count >= most && isFree(),
  };
}
