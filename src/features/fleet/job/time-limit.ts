import { uptime } from 'node:os';
import * as v from 'valibot';
import { slots } from '../../../jobs/memory.ts';
import type { Act, Step } from '../../../jobs/plan.ts';
import { actStep, type FleetJobTools, type Task } from './tools.ts';

/** Seconds since the boot: the time of day may jump by years, and another boot ends the job. */
const begun = slots('the time limit', { beganAtS: v.number() });

export function beginStep(): Act {
  return actStep('begin', 'check', (context) => begun.write(context, { beganAtS: uptime() }));
}

/**
 * Has an action that takes too long stopped, as somebody would stop its task: a script or a program
 * that hangs would keep every later action waiting for ever. Why is on record before.
 */
export function withLimit(
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
