/** Numbers from 0 to 1. */
export type Draw = () => number;

/** A moment in which the power goes. */
export interface Cut {
  /** Counted from the request, or from the job's end. */
  when: 'before' | 'in' | 'after';
  ms: number;
}

/** Around the request itself. */
const BEFORE_MS = 300;
/** Of a job whose duration is not known yet. */
const IN_MS = 8000;
const AFTER_MS = 40_000;

/** Some moments of one run, in their order. @param durationMs how long such a job took before */
export function createCuts(draw: Draw, count: number, durationMs = IN_MS): Cut[] {
  const cuts = Array.from({ length: count }, (): Cut => {
    const [kind, share] = [draw(), draw()];
    if (kind < 0.1) return { when: 'before', ms: Math.round(share * BEFORE_MS) };
    if (kind < 0.65) return { when: 'in', ms: Math.round(share * 1.1 * durationMs) };
    return { when: 'after', ms: Math.round(share ** 2 * AFTER_MS) };
  });
  const order = { before: 0, in: 1, after: 2 };
  const sorted = cuts.toSorted((a, b) => order[a.when] - order[b.when] || a.ms - b.ms);
  // Moments behind the end are waited for one after the other.
  let waited = 0;
  return sorted.map((cut) => {
    if (cut.when !== 'after') return cut;
    const ms = cut.ms - waited;
    waited = cut.ms;
    return { ...cut, ms };
  });
}
