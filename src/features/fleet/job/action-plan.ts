import { uptime } from 'node:os';
import * as v from 'valibot';
import { unixNow, type Job } from '../../../jobs/job.ts';
import {
  lateAct,
  plainAct,
  recordedAct,
  type Act,
  type Plan,
  type Step,
  type StepContext,
} from '../../../jobs/plan.ts';
import {
  putBackSteps,
  reportPutBack,
  type PutBackTools,
} from '../../../package-management/transaction/put-back.ts';
import { repairSteps } from '../../../package-management/transaction/rollback.ts';
import { isPresent } from '../../../package-management/database.ts';
import type { ProblemCode } from '../../../package-management/problem.ts';
import { slots } from '../../../jobs/memory.ts';
import type { ActionEnd } from '../records/action-record.ts';
import { workSchema, type Work } from '../rollout/work.ts';
import { checkWork, hasBegun, readFound } from './check-work.ts';
import { packageSteps, updateSteps } from './package-steps.ts';
import { firmwareRepair, firmwareSteps } from './firmware-steps.ts';
import {
  begunPrograms,
  hasSucceeded,
  succeeded,
  packagesNamed,
  type FleetJobTools,
  type Task,
} from './fleet-job-tools.ts';
import { settingsRepair, settingsSteps } from './settings-steps.ts';
import { tokenSteps, verifySteps } from './verify-steps.ts';

/** Parameters of a job of the kind `fleet`. */
export function paramsOf(key: string, work: Work): Record<string, string> {
  // Others read tasks, too: that there is a token is all of it that they learn.
  const token = work.token === undefined ? {} : { token: '' };
  return { action: key, work: JSON.stringify({ ...work, ...token }) };
}

/** Jobs that changed nothing before the device went down are begun again so often. */
export const MOST_ATTEMPTS = 3;

/**
 * fleet: one distribution set. All of it is judged first; then its transactions follow each other,
 * and what fails takes back what the others did, as far as packages can be taken back. Its end
 * stands in the action's record before the job ends: that is what the server is sent.
 */
export function fleetPlan(tools: FleetJobTools, job: Job): Plan {
  const work = v.parse(workSchema, JSON.parse(job.params.work ?? ''));
  const key = job.params.action ?? '';
  const task: Task = { work, key };
  const putBack: PutBackTools = {
    manager: tools.manager,
    copies: () => tools.kept.find(key),
    stateToRestore: async (context) =>
      context.job.runs === 0 || hasSucceeded(tools, key, context)
        ? undefined
        : (await tools.baseline.read(key))?.packages,
  };
  return {
    steps: withLimit(tools, task, [
      plainAct('begin', 'check', (context) => {
        begun.write(context, { beganAtS: uptime() });
      }),
      ...updateSteps(tools, work),
      // Done again after a change, it would remember that as what was there before.
      recordedAct('check', 'check', (context) => checkWork(tools, task, context)),
      ...packageSteps(tools, task),
      ...settingsSteps(tools, task),
      ...verifySteps(tools, task),
      ...tokenSteps(tools, task),
      ...firmwareSteps(tools, task),
      acceptStep(tools, task),
    ]),
    repair: [
      ...(firmwareRepair(tools, task) ?? [
        ...putBackSteps(putBack, 1),
        ...repairSteps(tools, {
          removesWhatCame: true,
          isComplete: () => tools.records.find(key)?.end?.result === 'success',
          isAccepted: (context) => succeeded.read(context).isDone,
          databaseBefore: async () => (await tools.baseline.read(key))?.packages,
        }),
        ...putBackSteps(putBack, 2),
        reportStep(tools, putBack),
        ...settingsRepair(tools, task),
      ]),
      recordEndStep(tools, key),
    ],
  };
}

function reportStep({ catalog }: FleetJobTools, putBack: PutBackTools): Act {
  return plainAct('report-putting-back', 'report what was put back', async (context) => {
    await reportPutBack(putBack, context);
    if ((await putBack.stateToRestore(context)) === undefined) return;
    for (const label of begunPrograms(context)) {
      context.addToError(`what ${label} changed by itself stays`);
    }
    await catalog.refresh();
  });
}

/** A self-upgrade, or a restart, comes after this job, and the end with it. */
function acceptStep(tools: FleetJobTools, { work, key }: Task): Act {
  return lateAct('accept', 'accept', async (context) => {
    const rolledOut = await rolledOutBy(tools, work, context);
    if (work.selfUpgrade || work.reboot) await tools.records.update(key, { rolledOut });
    else {
      const { absent } = readFound(context);
      const none = `not installed, so not upgraded: ${absent.join(', ')}`;
      const message = absent.length === 0 ? work.title : `${work.title}; ${none}`;
      const end = { result: 'success', message, exitCode: 0, at: unixNow() } as const;
      await tools.records.update(key, { rolledOut, end });
    }
    succeeded.write(context, { isDone: true });
    await forgetBefore(tools);
  });
}

/** What of the action's packages is there now. */
async function rolledOutBy({ manager }: FleetJobTools, { upgrade }: Work, context: StepContext) {
  const { packages, install } = readFound(context);
  const names = [...packages.map(({ name }) => name), ...install];
  const installed = await manager.installed();
  return Object.fromEntries(
    [...names, ...upgrade.flatMap(packagesNamed)].flatMap((name) => {
      const now = installed.get(name);
      return isPresent(now) ? [[name, now.version]] : [];
    }),
  );
}

function recordEndStep(tools: FleetJobTools, key: string): Act {
  return plainAct('record-end', 'record the end', async (context) => {
    const isStopped = context.job.verdict?.state === 'stopped';
    const limitS = isStopped ? tools.records.find(key)?.overLimitS : undefined;
    if (limitS !== undefined) context.addToError(`it took longer than its time limit, ${limitS} s`);
    await recordEnd(tools, key, { job: context.job, limitS });
    await forgetBefore(tools);
  });
}

/** What was kept of before the action is of no use when its end is on record. */
async function forgetBefore({ baseline, kept }: FleetJobTools): Promise<void> {
  await baseline.forget();
  await kept.forget();
}

async function recordEnd(
  { records }: FleetJobTools,
  key: string,
  { job, limitS }: Pick<StepContext, 'job'> & { limitS: number | undefined },
): Promise<void> {
  if (job.verdict === undefined) return;
  const { state, error: message, errorCode, exitCode } = job.verdict;
  const isRepeatable = state === 'interrupted' && !hasBegun(job);
  // After the reboot the action begins again.
  if (isRepeatable && (records.find(key)?.attempts ?? 0) < MOST_ATTEMPTS) return;
  const why: Pick<ActionEnd, 'result' | 'errorCode'> =
    limitS === undefined
      ? { result: state === 'stopped' ? 'canceled' : 'failure', errorCode }
      : { result: 'failure', errorCode: 'time_limit' satisfies ProblemCode };
  await records.update(key, { end: { ...why, message, exitCode, at: unixNow() } });
}

/** Seconds since the boot: the time of day may jump by years, and another boot ends the job. */
const begun = slots('the time limit', { beganAtS: v.number() });

/**
 * Has an action that takes too long stopped, as somebody would stop its task: a script or a program
 * that hangs would keep every later action waiting for ever. Why is on record before.
 */
function withLimit(
  { settings, records, stop }: FleetJobTools,
  { work, key }: Task,
  steps: readonly Step[],
): Step[] {
  return steps.map((step) => {
    if ('act' in step) return step;
    return {
      ...step,
      supervise: (context) => {
        const end = step.supervise?.(context);
        const limitS = work.limitS ?? settings().limit_s;
        const { beganAtS } = begun.find(context) ?? { beganAtS: uptime() };
        const stopIt = async (): Promise<void> => {
          await records.update(key, { overLimitS: limitS });
          await stop(context.job.id);
        };
        const leftS = Math.max(0, beganAtS + limitS - uptime());
        // Stopped all the same if there is no room for the reason.
        const timer = setTimeout(
          () => void stopIt().catch(() => stop(context.job.id)),
          Math.min(leftS * 1000, MOST_TIMER_MS),
        );
        return () => {
          clearTimeout(timer);
          end?.();
        };
      },
    };
  });
}

const MOST_TIMER_MS = 2 ** 31 - 1;
