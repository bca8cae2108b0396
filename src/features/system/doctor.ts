import { reasonOf } from '../../errors.ts';
import type { DeviceCheck, Finding } from '../device-check.ts';

/** From the start of all; they run side by side, so that the whole answer has this limit, too. */
const LIMIT_MS = 800;

/** What one check found, as the interface shows it. */
export interface CheckResult extends Finding {
  id: string;
}

/** Asks all checks at once. One that fails or hangs is a warning, and keeps no other one back. */
export async function runChecks(
  checks: readonly DeviceCheck[],
  limitMs = LIMIT_MS,
): Promise<CheckResult[]> {
  let timer: NodeJS.Timeout | undefined;
  const isOver = new Promise<Finding>((resolve) => {
    timer = setTimeout(() => resolve(noAnswer(limitMs)), limitMs);
  });
  const results = checks.map(async ({ id, run }) => ({
    id,
    ...(await Promise.race([findingOf(run), isOver])),
  }));
  try {
    return await Promise.all(results);
  } finally {
    clearTimeout(timer);
  }
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
