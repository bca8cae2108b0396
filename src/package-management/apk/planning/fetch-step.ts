import type { Command } from '../../../device/command.ts';
import { run } from '../../../device/exec.ts';
import {
  plainCommand,
  retryFrom,
  type Act,
  type CommandStep,
  type StepContext,
} from '../../../jobs/plan.ts';
import type { TransactionSteps } from '../../manager.ts';
import type { Ahead } from '../../wait-for-lock.ts';
import type { Installation } from '../installation.ts';
import { fetchCommand } from './download.ts';
import { planned, readPlan } from './plan-change.ts';
import { sizeOf } from './space.ts';

/** What `before` is given further. */
export type Further = NonNullable<Parameters<TransactionSteps['before']>[1]>;

/**
 * Keeps what goes while what comes is fetched. Where something is kept it has the id and the label
 * of that, by which older records know it.
 */
export function gatherStep(
  planning: Act,
  { keep, lock, fetching, ...ready }: Further & Record<'lock' | 'fetching', Ahead<boolean>>,
): Act {
  return {
    ...ready,
    id: 'fetch-small',
    label: 'fetch',
    ...keep,
    isRecorded: false,
    act: async (context) => {
      const isFetching = readPlan(context).downloads.length > 0;
      const [isStale, kept, fetched] = await Promise.allSettled([
        isFetching && lock.end(context),
        keep?.act(context),
        fetching.end(context),
      ]);
      if (isStale.status === 'rejected') throw isStale.reason;
      if (isStale.value) return retryFrom(planning);
      if (kept.status === 'rejected') throw kept.reason;
      const isFetched = fetched.status === 'fulfilled' && fetched.value;
      if (isFetched) planned.write(context, { isFetched });
    },
  };
}

/** What is fetched without a holder and a terminal around it, which cost more than it does. */
const SMALL_BYTES = 512 * 1024;
/** Limits of a quick fetch: after that somebody may want to see how far it is. */
const QUICK_LIMITS = { timeoutMs: 5000, maxBytes: 64 * 1024 };

/** Fetches what the plan needs into the cache, and `fetchSmall` did not. */
export function fetchStep(installation: Installation): CommandStep {
  return plainCommand('fetch-packages', 'fetch', async (context) =>
    planned.read(context).isFetched
      ? undefined
      : (await whatToFetch(installation, context)).command,
  );
}

/**
 * What is small is fetched by the daemon itself; if that fails or takes long the job's command does
 * it once more, where everybody sees why.
 */
export async function fetchSmall(installation: Installation, context: StepContext) {
  const { command, bytes } = await whatToFetch(installation, context);
  return command !== undefined && bytes <= SMALL_BYTES && fetchQuickly(command, context);
}

async function whatToFetch(
  installation: Installation,
  context: StepContext,
): Promise<{ command?: Command; bytes: number }> {
  const { downloads } = readPlan(context);
  if (downloads.length === 0) return { bytes: 0 };
  const names = downloads.map(({ name }) => name);
  const offers = await installation.offers(names, { withMasked: true });
  const cache = await installation.cache();
  const command = fetchCommand(installation.commands, downloads, { cache, offers });
  const sizes = downloads.map((each) => sizeOf(each, { offers, records: new Map() }));
  return { command, bytes: sizes.reduce((sum, { downloadBytes = 0 }) => sum + downloadBytes, 0) };
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
