/** A clock that is never set: a router's time of day starts in 1970, and jumps once it is known. */
export function nowMs(): number {
  return performance.now();
}

/** Unix seconds of such a moment, by the time of day as it is now. */
export function unixTimeOf(momentMs: number): number {
  return Math.round((Date.now() - performance.now() + momentMs) / 1000);
}

const CLOCK_CODES = ['CERT_NOT_YET_VALID', 'CERT_HAS_EXPIRED'];

/** @returns a clause that names the time of day if that may be why a certificate is refused */
export function clockHint(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  if (!CLOCK_CODES.some((each) => each === code)) return '';
  return `; the clock of this device says ${new Date(Date.now()).toISOString().slice(0, 19)}Z`;
}
