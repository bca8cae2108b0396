import { setTimeout as delay } from 'node:timers/promises';
import { DepotError } from '../../../errors.ts';
import type { PackageHost } from '../package-manager.ts';
import type { Act, StepContext } from '../../../jobs/plan.ts';

/** Free space below which opkg could not even write its status file, so that it is not started. */
const LEAST_FREE_BYTES = 1024 ** 2;
/** How long a job waits while somebody else runs opkg, and how often it looks. */
const LOCK_LIMIT_MS = 10 * 60_000;
const LOCK_PAUSE_MS = 200;

/**
 * Before opkg runs: a status file that came out damaged earlier is put back, nobody else holds the
 * lock, and the status file is copied. The copy is taken last, so that it has what others did while
 * this job waited.
 */
export function prepareStep(packages: PackageHost): Act {
  return {
    id: 'prepare',
    label: 'prepare',
    act: async (context) => {
      await packages.prepare();
      await waitForLock(packages, context);
      if (!(await packages.statusCopy.isIntact())) {
        await context.note(
          'the status file of opkg is damaged; the copy from before the last job is put back',
        );
        await packages.statusCopy.restore();
      }
      await packages.statusCopy.save();
      return undefined;
    },
  };
}

/** @throws DepotError no_space */
export async function checkSpace(packages: PackageHost, purpose: string): Promise<void> {
  const free = await packages.freeBytes();
  if (free < LEAST_FREE_BYTES) {
    throw new DepotError(
      'no_space',
      `cannot ${purpose}: ${free} bytes are free for packages, ${LEAST_FREE_BYTES} are needed at least`,
    );
  }
}

/**
 * opkg does not wait for its lock but fails at once, reading commands too, so the job waits for it,
 * and says so.
 */
export async function waitForLock(
  packages: PackageHost,
  { note, signal }: StepContext,
): Promise<void> {
  // Not the time of day: a router's jumps by decades when it learns it.
  const deadline = performance.now() + LOCK_LIMIT_MS;
  let isTold = false;
  for (
    let holder = await packages.lockHolder();
    holder !== undefined;
    holder = await packages.lockHolder()
  ) {
    if (performance.now() > deadline) {
      throw new DepotError(
        'unavailable',
        `cannot run opkg: ${who(holder)} has held ${packages.lockFile} for ${LOCK_LIMIT_MS / 60_000} minutes`,
      );
    }
    if (!isTold) await note(`waiting: ${who(holder)} holds ${packages.lockFile}`);
    isTold = true;
    await delay(LOCK_PAUSE_MS, undefined, { signal });
  }
}

function who(holder: number): string {
  return holder === 0 ? 'another process' : `process ${holder}`;
}

/** opkg's exit code for every failure. */
const FAILED = 255;

/**
 * Whether opkg did nothing because somebody took the lock between the look at it and opkg's start.
 * The message counts only where it is the first thing printed: maintainer scripts that call opkg
 * print it, too.
 */
export async function hasLostLock({ job, printed, memory }: StepContext): Promise<boolean> {
  if (job.lastExitCode !== FAILED) return false;
  const isLost = /^(Collected errors:\s+)?\* opkg_conf_load: Could not lock /.test(
    (await printed(400)).trimStart(),
  );
  if (!isLost) return false;
  const since = typeof memory.lostSince === 'number' ? memory.lostSince : Date.now();
  if (Date.now() - since > LOCK_LIMIT_MS) return false;
  memory.lostSince = since;
  await delay(LOCK_PAUSE_MS);
  return true;
}

/**
 * Puts the copy of the status file back where opkg's own is damaged, or has lost packages that are
 * still on the device.
 * @returns what was wrong, if anything was
 */
export async function mendStatus(
  packages: PackageHost,
  context: StepContext,
): Promise<string | undefined> {
  if ((await faultOf(packages)) === undefined) return undefined;
  // Somebody else's opkg may be writing it at this moment.
  await waitForLock(packages, context);
  const fault = await faultOf(packages);
  if (fault !== undefined) await packages.statusCopy.restore();
  return fault;
}

async function faultOf(packages: PackageHost): Promise<string | undefined> {
  const before = await packages.statusCopy.read();
  if (before === undefined) return undefined;
  if (!(await packages.statusCopy.isIntact())) {
    return 'the status file of opkg came out damaged; the copy from before is put back';
  }
  const after = await packages.read();
  for (const { name, state } of before.values()) {
    const isLost =
      state !== 'not-installed' && !after.has(name) && (await packages.hasControlFile(name));
    if (isLost) return `the status file of opkg lost ${name}; the copy from before is put back`;
  }
  return undefined;
}
