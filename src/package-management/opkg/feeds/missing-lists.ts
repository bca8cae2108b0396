import * as v from 'valibot';
import { reasonOf } from '../../../errors.ts';
import {
  plainAct,
  plainCommand,
  retryFrom,
  type Step,
  type StepContext,
} from '../../../jobs/plan.ts';
import { describeFailed, LACKING_LISTS, needsNoList, noListsFailure } from '../../failed-feeds.ts';
import { failureError } from '../../failure.ts';
import type { FeedLists, RefetchNote } from '../../manager.ts';
import { transactionSlots } from '../../transaction-slots.ts';
import type { OpkgCommands } from '../changing/commands.ts';
import { waitForOpkg } from '../changing/lock.ts';
import type { Installation } from '../installation.ts';
import { listFiles } from './lists.ts';

export interface ListsTools {
  lists: FeedLists;
  commands: Pick<OpkgCommands, 'update'>;
  wasShutOut: (context: StepContext) => Promise<boolean>;
  refetchNote?: RefetchNote | undefined;
  /** Begins, once nothing is fetched any more, what a later step waits for. */
  meanwhile?: (context: StepContext) => void;
}

/**
 * Fetches the lists if none is there: they are in memory, and gone after each boot; or if they are
 * too old for the job. One that is no good gives way to what was there, and without any the job
 * fails, unless all that it is for is there already.
 */
export function listsSteps(
  installation: Installation,
  { lists, commands, wasShutOut, refetchNote, meanwhile }: ListsTools,
  isNeeded: (context: StepContext) => boolean,
): Step[] {
  return [
    plainAct('look-for-lists', 'look for lists', async (context) => {
      const { note } = context;
      fetching.write(context, { fetchesLists: false });
      const isLacking = isNeeded(context) && (await lacksLists(installation));
      const text = isLacking ? LACKING_LISTS : await refetchNote?.();
      if (text === undefined) return undefined;
      await note(text);
      await installation.prepareFolders();
      await waitForOpkg(installation, context);
      try {
        await lists.backUp();
      } catch (error) {
        if (isLacking) throw error;
        await note(`cannot keep the package lists while others are fetched: ${reasonOf(error)}`);
        return undefined;
      }
      fetching.write(context, { fetchesLists: true });
    }),
    plainCommand('fetch-lists', 'fetch lists', (context) =>
      fetching.read(context).fetchesLists ? commands.update() : undefined,
    ),
    plainAct('check-lists', 'check lists', async (context) => {
      const { job, note } = context;
      if (!fetching.read(context).fetchesLists) {
        meanwhile?.(context);
        return undefined;
      }
      if (await wasShutOut(context)) return retryFrom({ id: 'look-for-lists' });
      const failed = await lists.checkFetched(context);
      await lists.forget();
      if (!(await lacksLists(installation))) {
        if (failed.length > 0) await note(describeFailed(failed));
        return undefined;
      }
      if (await needsNoList(job, installation.read)) return undefined;
      throw failureError(`${job.kind} ${job.subject}`.trim(), noListsFailure(failed));
    }),
  ];
}

const fetching = transactionSlots('the lists', { fetchesLists: v.optional(v.boolean(), false) });

async function lacksLists({ readConfig }: Installation): Promise<boolean> {
  const config = await readConfig();
  return config.feeds.length > 0 && (await listFiles(config)).length === 0;
}
