/** The server says how often; jitter keeps devices from coming at once after a power cut. */

const SECOND = 1000;
export const LEAST_INTERVAL_S = 30;
/** Interval between polls until the server has said one. */
const USUAL_INTERVAL_S = 300;
/** Share of an interval by which it is shortened or extended at random. */
const JITTER = 0.1;
/** A device that starts is not silent for longer. */
const MOST_START_S = 900;
/** Longest pause of a device that starts with an action that is not over. */
const START_WITH_ACTION_S = 60;
/** The pauses after failures double up to so many times. */
const MOST_DOUBLINGS = 12;

export interface Schedule {
  /** Interval in seconds, as the server said last; undefined before it did. */
  intervalS: number | undefined;
  /** Upper bound of the owner's, in seconds. */
  mostS: number;
  /** Polls in a row that failed. */
  failures: number;
}

/** A timer may be that early. */
export const EARLY_MS = 50;

/** @param random from 0 up to, but not including, 1 */
export function pauseMs({ intervalS, mostS, failures }: Schedule, random: () => number): number {
  const interval = bounded(intervalS ?? USUAL_INTERVAL_S, mostS);
  if (failures === 0) return Math.min(jittered(interval, random), mostS) * SECOND;
  const longest = Math.max(interval, bounded(MOST_START_S, mostS));
  const backOff = LEAST_INTERVAL_S * 2 ** Math.min(failures, MOST_DOUBLINGS);
  // Anywhere in it, so that those who failed at the same time do not come again together.
  const pause = Math.min(longest, backOff);
  return (LEAST_INTERVAL_S / 2 + random() * pause) * SECOND;
}

/** The pause ahead of the first poll: anywhere within an interval. */
export function startPauseMs(
  { intervalS, mostS }: Pick<Schedule, 'intervalS' | 'mostS'>,
  hasAction: boolean,
  random: () => number,
): number {
  const interval = bounded(intervalS ?? USUAL_INTERVAL_S, mostS);
  return random() * Math.min(interval, hasAction ? START_WITH_ACTION_S : MOST_START_S) * SECOND;
}

function bounded(intervalS: number, mostS: number): number {
  return Math.min(Math.max(intervalS, LEAST_INTERVAL_S), mostS);
}

function jittered(intervalS: number, random: () => number): number {
  return Math.max(LEAST_INTERVAL_S, intervalS * (1 - JITTER + 2 * JITTER * random()));
}
