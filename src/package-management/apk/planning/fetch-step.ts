import type { Command } from '../../../device/command.ts';
import { run } from '../../../device/exec.ts';
import type { CommandStep, StepContext } from '../../../jobs/plan.ts';
import type { Installation } from '../installation.ts';
import { downloadsOf, fetchCommand } from './download.ts';
import { planned, readPlan } from './job-plan.ts';
import { sizesOf } from './sizes.ts';

/** What is fetched without a holder and a terminal around it, which cost more than it does. */
const SMALL_BYTES = 512 * 1024;
/** After that somebody may want to see how far it is. */
const QUICK_LIMITS = { timeoutMs: 5000, maxBytes: 64 * 1024 };

/** Fetches what the plan needs into the cache, and `fetchSmall` did not. */
export function fetchStep(installation: Installation): CommandStep {
  return {
    id: 'fetch-packages',
    label: 'fetch',
    mustSucceed: false,
    command: async (context) =>
      planned.read(context).isFetched
        ? undefined
        : (await whatToFetch(installation, context)).command,
  };
}

/**
 * What is small is fetched by the daemon itself; if that fails or takes long the job's command does
 * it once more, where everybody sees why.
 */
export async function fetchSmall(
  installation: Installation,
  context: StepContext,
): Promise<boolean> {
  const { command, bytes } = await whatToFetch(installation, context);
  return command !== undefined && bytes <= SMALL_BYTES && fetchQuickly(command, context);
}

async function whatToFetch(
  installation: Installation,
  context: StepContext,
): Promise<{ command?: Command; bytes: number }> {
  const { changes, own } = readPlan(context);
  const downloads = downloadsOf(changes, own);
  if (downloads.length === 0) return { bytes: 0 };
  const names = downloads.map(({ name }) => name);
  const offers = await installation.offers(names, { withMasked: true });
  const cache = await installation.cache();
  const command = fetchCommand(installation.commands, downloads, { cache, offers });
  return { command, bytes: sizesOf(downloads, { offers, records: new Map() }).download };
}

/** The variable has the job's end find it if this daemon dies meanwhile. */
async function fetchQuickly(
  { environment, ...command }: Command,
  { job, signal, note }: StepContext,
): Promise<boolean> {
  const { exitCode, stdout } = await run(
    { ...command, environment: { ...environment, DEPOTD_JOB: job.id } },
    { ...QUICK_LIMITS, signal },
  );
  if (exitCode !== 0) return false;
  for (const line of stdout.split('\n')) if (line !== '') await note(line);
  return true;
}
