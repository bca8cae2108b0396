/**
 * Rows below their headings, in columns as wide as their content.
 * @param columns width of the terminal: longer lines are cut; undefined if the output is no
 *   terminal
 */
export function formatTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  columns?: number,
): string {
  const all = [headings, ...rows].map((row) => row.map(oneLine));
  const widths = headings.map((_, at) => Math.max(...all.map((row) => (row[at] ?? '').length)));
  const lines = all.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const isTooLong = (line: string): boolean => columns !== undefined && line.length > columns;
  const cut = (line: string): string => `${line.slice(0, (columns ?? 1) - 1)}…`;
  return lines.map((line) => `${isTooLong(line) ? cut(line) : line}\n`).join('');
}

/** Control characters in what others wrote must not reach the terminal. */
function oneLine(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ');
}

/** Local time, such as `2026-11-21 05:17:55`. */
export function formatTime(unix: number): string {
  const date = new Date(unix * 1000);
  const two = (value: number): string => String(value).padStart(2, '0');
  return (
    `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ` +
    `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
  );
}

/** A span of seconds, such as `4 s` or `2 min 5 s`. */
export function formatSpan(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}
