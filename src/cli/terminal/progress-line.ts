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

/** `[########------------]  40 %  download (2 of 5)` */
export function progressLine({ label, done, total, percent }: Stage): string {
  const share = percent ?? (total === 0 ? 0 : (100 * done) / total);
  const bounded = Math.min(100, Math.max(0, share));
  const filled = Math.round((bounded / 100) * BAR_COLUMNS);
  const bar = '#'.repeat(filled) + '-'.repeat(BAR_COLUMNS - filled);
  const step = total === 0 ? '' : ` (${Math.min(done + 1, total)} of ${total})`;
  return `[${bar}] ${String(Math.round(bounded)).padStart(3)} %  ${label}${step}`;
}
