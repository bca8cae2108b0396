import { inTime } from '../../device/disk/patience.ts';
import { reasonOf } from '../../errors.ts';
import type { DeviceCheck, Finding } from '../device-check.ts';

/** Limit of the checks, from their start; side by side, so that the whole answer has it, too. */
const LIMIT_MS = 800;

/** What one check found, as the interface shows it. */
export interface CheckResult extends Finding {
  id: string;
}

/** Asks all checks at once. One that fails or hangs is a warning, and keeps no other one back. */
export function runChecks(
  checks: readonly DeviceCheck[],
  limitMs = LIMIT_MS,
): Promise<CheckResult[]> {
  return Promise.all(
    checks.map(async ({ id, run }) => {
      const finding = await inTime(findingOf(run), limitMs);
      return { id, ...(finding ?? noAnswer(limitMs)) };
    }),
  );
}

async function findingOf(run: DeviceCheck['run']): Promise<Finding> {
  try {
    return await run();
  } catch (error) {
    return { state: 'warning', message: `this could not be checked: ${reasonOf(error)}` };
  }
}

function noAnswer(limitMs: number): Finding {
  return {
    state: 'warning',
    message: `this could not be checked within ${limitMs} ms`,
    remedy: 'ask again; if it stays so, a disk or a program does not answer',
  };
}
