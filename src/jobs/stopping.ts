import { setTimeout as delay } from 'node:timers/promises';
import type { Processes, ProcessMark } from '../device/ports.ts';

/**
 * From polite to final, and how long each may take to have an effect. SIGINT first: it lets opkg
 * write its status.
 */
const ESCALATION = [
  { signal: 'SIGINT', graceMs: 10_000 },
  { signal: 'SIGTERM', graceMs: 10_000 },
  { signal: 'SIGKILL', graceMs: 2_000 },
] as const;
const POLL_MS = 100;

/**
 * Ends a job's command and everything it started; resolves when nothing of it is left, or the
 * holder itself was killed.
 */
export async function endCommand(
  processes: Processes,
  job: { jobId: string; mark: ProcessMark },
): Promise<void> {
  for (const { signal, graceMs } of ESCALATION) {
    await processes.signal(job, signal);
    if (await hasEnded(processes, job, graceMs)) return;
  }
  await processes.killHolder(job.mark);
}

async function hasEnded(
  processes: Processes,
  job: { jobId: string; mark: ProcessMark },
  graceMs: number,
): Promise<boolean> {
  const deadline = performance.now() + graceMs;
  while (performance.now() < deadline) {
    if ((await processes.count(job)) === 0) return true;
    await delay(POLL_MS);
  }
  return false;
}
