import { isEnded } from '../../jobs/job.ts';
import type { FeatureContext } from '../feature.ts';
import type { RestoreDue } from './restore-due.ts';
import { subjectOf } from './routes.ts';
import type { Sets } from './sets.ts';

/** Why a restore ends that finds no package lists. */
export const NO_LISTS = 'no_lists';

/** Pause behind the first such end of a restore; each is twice the one before. */
const FIRST_PAUSE_MS = 60_000;
const LONGEST_PAUSE_MS = 30 * 60_000;

/**
 * Takes up a restore that is due, again and again while it ends for want of package lists: after a
 * boot the network may come much later than the daemon. One that is on record goes on by itself, or
 * has been cut short by a boot, and ends first.
 */
export function createResumption({
  queue,
  submit,
  sets,
  due,
}: Pick<FeatureContext, 'queue' | 'submit'> & { sets: Sets; due: RestoreDue }) {
  let isStarted = false;
  let pauseMs = FIRST_PAUSE_MS;
  let timer: NodeJS.Timeout | undefined;
  const begin = async (): Promise<void> => {
    const next = await due.next();
    const set = next && (await sets.find(next.backup).catch(() => undefined));
    if (next === undefined || set === undefined) return;
    await submit('restore', subjectOf(set.manifest.made_at), { ...next });
  };
  const cancel = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };
  const pause = (): void => {
    cancel();
    timer = setTimeout(() => {
      timer = undefined;
      // A restore that cannot begin is tried again, too.
      void begin().catch(pause);
    }, pauseMs).unref();
    pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
  };
  const unsubscribe = queue.onChange(({ kind, state, errorCode }) => {
    if (kind !== 'restore' || !isEnded(state)) return;
    cancel();
    if (state === 'interrupted' && isStarted) void begin().catch(pause);
    if (errorCode === NO_LISTS) void due.forgive().then(pause, pause);
  });
  return {
    start: async (): Promise<void> => {
      const isOn = queue.all().some(({ kind, state }) => kind === 'restore' && !isEnded(state));
      if (!isOn) await begin();
      isStarted = true;
    },
    /** Whether it waits for another try. */
    isWaiting: (): boolean => timer !== undefined,
    close: (): undefined => {
      unsubscribe();
      cancel();
    },
  };
}
