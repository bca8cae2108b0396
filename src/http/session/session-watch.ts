import type { Sessions } from './sessions.ts';

export type SessionWatch = ReturnType<typeof createSessionWatch>;

/** With the time of one check, an answer that goes on ends within 2 s of its session. */
const CHECK_MS = 1500;

/** One clock for all who are watched, so that the sessions can answer them with one question. */
export function createSessionWatch({ peek }: Pick<Sessions, 'peek'>) {
  const watched = new Set<() => void>();
  let clock: NodeJS.Timeout | undefined;

  /** `onEnd` is called once, if the session ends or cannot be asked for. @returns ends the watch */
  return (headers: Headers, onEnd: () => void): (() => void) => {
    let isChecking = false;
    const remove = (): void => {
      watched.delete(check);
      if (watched.size > 0) return;
      clearInterval(clock);
      clock = undefined;
    };
    const end = (): void => {
      if (!watched.has(check)) return;
      remove();
      onEnd();
    };
    const check = (): void => {
      if (isChecking) return;
      isChecking = true;
      peek(headers)
        .then((session) => session === undefined && end(), end)
        .finally(() => (isChecking = false));
    };
    watched.add(check);
    clock ??= setInterval(() => watched.forEach((each) => each()), CHECK_MS);
    return remove;
  };
}
