import { fitting, widthOf } from './width.ts';

/** What a task's status says of how far it is. */
export interface Stage {
  /** The step that it is at. */
  label: string;
  /** Steps behind it, and in all. */
  done: number;
  total: number;
  /** Of this step, if it says so. */
  percent: number | undefined;
}

const BAR_COLUMNS = 20;
/** A shorter bar shows nothing. */
const LEAST_BAR_COLUMNS = 5;
/** Two brackets and a blank. */
const AROUND_BAR = 3;

/**
 * `[########------------]  40 %  download (2 of 5)`. If that is too long, the bar is shorter, then
 * there is none, and then the end of the label is missing.
 */
export function progressLine(stage: Stage, columns = Infinity): string {
  const { label, done, total, percent } = stage;
  const share = percent ?? (total === 0 ? 0 : (100 * done) / total);
  const bounded = Math.min(100, Math.max(0, share));
  const figure = `${String(Math.round(bounded)).padStart(3)} %  `;
  const step = total === 0 ? '' : ` (${Math.min(done + 1, total)} of ${total})`;
  const text = figure + label + step;
  const room = columns - widthOf(text) - AROUND_BAR;
  if (room < LEAST_BAR_COLUMNS) {
    return figure + fitting(label, columns - widthOf(figure + step)) + step;
  }
  const bar = Math.min(BAR_COLUMNS, room);
  const filled = Math.round((bounded / 100) * bar);
  return `[${'#'.repeat(filled)}${'-'.repeat(bar - filled)}] ${text}`;
}
