import * as v from 'valibot';
import type { Job } from '../../../jobs/job.ts';
import { plainAct, type Step, type StepContext } from '../../../jobs/plan.ts';
import { isPresent } from '../../database.ts';
import { lasting, transactionSlots } from '../../memory.ts';
import type { OpkgCommands } from '../changing/commands.ts';
import { waitForOpkg } from '../changing/lock.ts';
import type { Installation } from '../installation.ts';
import { listsSteps, type ListsTools } from '../feeds/missing-lists.ts';
import type { Damaged } from './damaged.ts';
import { writtenAfter } from '../database/info-folder.ts';
import { findEmptied, findOtherVersions, removeEmptiedSettings } from './emptied.ts';
import { lowerVersions, restoreVersions } from './lowered-versions.ts';
import { unlistedIn, unlistedSteps } from './unlisted.ts';

export interface DamageTools extends ListsTools {
  commands: OpkgCommands;
  damaged: Damaged;
}

/**
 * Of a job that a power cut broke off, in its repair: the packages that it was at work on are
 * looked at, and those whose files were emptied are installed again. What cannot be, without a
 * network, stays marked as damaged.
 */
export function damageSteps(
  installation: Installation,
  { damaged, ...tools }: DamageTools,
): Step[] {
  const { commands } = tools;
  return [
    plainAct('look-for-damage', 'look for damage', async (context) => {
      const { job, note } = context;
      if (!isDoubtful(context)) return undefined;
      const since = startOf(job);
      const database = await installation.read();
      const inDoubt = (await writtenAfter(installation.infoDir, since)).filter((name) =>
        isPresent(database.get(name)),
      );
      const emptied = await findEmptied(installation, inDoubt, since);
      const rest = inDoubt.filter((name) => !emptied.includes(name));
      const others = await findOtherVersions(installation, rest, database);
      if (others.length > 0) {
        await damaged.add(others);
        await note(`${others.join(', ')} has the files of another version than its record`);
      }
      if (emptied.length === 0) return undefined;
      await damaged.add(emptied);
      inRepair.write(context, { emptied: [...others, ...emptied] });
      await note(`the power cut damaged files of ${emptied.join(', ')}: installed again`);
    }),
    ...listsSteps(
      installation,
      tools,
      (context) => emptiedIn(context).length + unlistedIn(context).length > 0,
    ),
    ...unlistedSteps(installation, commands.opkg),
    plainAct('prepare-reinstall', 'prepare reinstall', async (context) => {
      const names = emptiedIn(context);
      if (names.length === 0) return undefined;
      await installation.prepareFolders();
      await waitForOpkg(installation, context);
      await removeEmptiedSettings(installation, names, startOf(context.job));
      await lowerVersions(installation.statusFile, context, names);
    }),
    {
      id: 'reinstall',
      label: 'reinstall',
      mustSucceed: false,
      command: (context) => {
        const names = emptiedIn(context);
        return names.length === 0 ? undefined : commands.upgrade(names);
      },
    },
    plainAct('judge-reinstall', 'check: reinstall', async (context) => {
      const { note } = context;
      const names = emptiedIn(context);
      if (names.length === 0) return undefined;
      await restoreVersions(installation.statusFile, context);
      const database = await installation.read();
      await damaged.update(database);
      const left = damaged.among(names);
      if (left.length > 0) {
        await note(
          `${left.join(', ')} could not be installed again, and is damaged: install it again`,
        );
      }
    }),
  ];
}

function isDoubtful(context: StepContext): boolean {
  const { verdict, isRepairCut = false } = context.job;
  const isUnwritten = lasting.read(context).isWritten === false;
  return isRepairCut || (isUnwritten && verdict?.state === 'interrupted');
}

const inRepair = transactionSlots('the damage', { emptied: v.optional(v.array(v.string()), []) });

function startOf({ startedAt, createdAt }: Job): number {
  return startedAt ?? createdAt;
}

function emptiedIn(context: StepContext): readonly string[] {
  return inRepair.read(context).emptied;
}
