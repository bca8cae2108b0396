import { setTimeout as delay } from 'node:timers/promises';
import type { Processes } from '../device/ports.ts';
import { pauseBetweenLooks } from '../device/process-table.ts';

/**
 * From polite to final, and how long each may take to have an effect. SIGINT first: a package
 * manager writes its database then.
 */
const ESCALATION = [
  { signal: 'SIGINT', graceMs: 10_000 },
  { signal: 'SIGTERM', graceMs: 10_000 },
  { signal: 'SIGKILL', graceMs: 2_000 },
] as const;

type Target = Parameters<Processes['count']>[0];

/**
 * Ends a job's command and everything it started, and resolves when nothing of it is left: not
 * before, since the next job begins then. What outlives SIGKILL is held by the kernel, and is
 * killed and looked for until it is gone.
 */
export async function endProcesses(processes: Processes, target: Target): Promise<void> {
  for (const { signal, graceMs } of ESCALATION) {
    await attempt(() => processes.signal(target, signal));
    if (await hasEnded(processes, target, graceMs)) return;
  }
  for (;;) {
    await attempt(() => processes.killHolder(target.mark));
    await attempt(() => processes.signal(target, 'SIGKILL'));
    if (await hasEnded(processes, target, 2000)) return;
  }
}

/** What cannot be found out or done for the moment is tried again with the next signal. */
async function attempt(work: () => Promise<unknown>): Promise<void> {
  await work().catch(() => undefined);
}

async function hasEnded(processes: Processes, target: Target, graceMs: number): Promise<boolean> {
  const since = performance.now();
  for (;;) {
    // A look that fails is no end.
    if (!(await isUnderWay(processes, target).catch(() => true))) return true;
    const passedMs = performance.now() - since;
    if (passedMs >= graceMs) return false;
    await delay(Math.min(pauseBetweenLooks(passedMs), graceMs - passedMs));
  }
}

/**
 * Whether anything of a job lives: its holder, or what the holder started.
 * @throws an Error of Node if that cannot be found out
 */
export async function isUnderWay(processes: Processes, target: Target): Promise<boolean> {
  return (await processes.isAlive(target.mark)) || (await processes.count(target)) > 0;
}
