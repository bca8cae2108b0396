import { fitting, widthOf } from './width.ts';

/** What a task's status says of how far it is. */
export interface Stage {
  /** The step that it is at. */
  label: string;
  /** How much of that is done, if it says so. */
  percent: number | undefined;
}

const BAR_COLUMNS = 20;
/** A shorter bar shows nothing. */
const LEAST_BAR_COLUMNS = 5;
/** Two brackets and a blank. */
const AROUND_BAR = 3;

/**
 * `[########------------]  40 %  download`, or only what it is at if it does not say how much of
 * that is done. If that is too long, the bar is shorter, then there is none, and then the end of
 * the label is missing.
 */
export function progressLine({ label, percent }: Stage, columns = Infinity): string {
  if (percent === undefined) return fitting(label, columns);
  const bounded = Math.min(100, Math.max(0, percent));
  const figure = `${String(Math.round(bounded)).padStart(3)} %  `;
  const text = figure + label;
  const room = columns - widthOf(text) - AROUND_BAR;
  if (room < LEAST_BAR_COLUMNS) return figure + fitting(label, columns - widthOf(figure));
  const bar = Math.min(BAR_COLUMNS, room);
  const filled = Math.round((bounded / 100) * bar);
  return `[${'#'.repeat(filled)}${'-'.repeat(bar - filled)}] ${text}`;
}
