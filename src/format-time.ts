/** `2026-11-23 04:37:38 UTC`, for sentences that people read. */
export function timeText(unixMs: number): string {
  return `${new Date(unixMs).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
