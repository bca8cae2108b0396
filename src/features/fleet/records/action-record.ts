import * as v from 'valibot';
import { byName } from '../../../package-management/names.ts';
import { workSchema } from '../rollout/work.ts';

/** How an action ended. `downloaded`: its files are here, and no more was asked for. */
const endSchema = v.object({
  result: v.picklist(['success', 'failure', 'canceled', 'downloaded']),
  message: v.string(),
  /** Code of the failure, as a job's `error_code`. */
  errorCode: v.optional(v.string()),
  exitCode: v.optional(v.number()),
  /** Unix seconds. */
  at: v.number(),
});
export type ActionEnd = v.InferOutput<typeof endSchema>;

export const recordSchema = v.object({
  /** The action's key, as `actionKey` makes it. */
  key: v.string(),
  /** The server's address, as `addressKey` makes it: nobody else is sent the end. */
  from: v.string(),
  /** The id that the server gave it. */
  actionId: v.string(),
  /** What it is to do; undefined if that could not be read. */
  work: v.optional(workSchema),
  title: v.string(),
  createdAt: v.number(),
  /** Counts up, whatever the clock says: the order of the actions. */
  number: v.optional(v.number(), 0),
  /** The owner's answer, if one was asked for. */
  consent: v.optional(v.picklist(['given', 'denied'])),
  /** Whether the server has asked for it to be canceled. */
  isCancelAsked: v.optional(v.boolean(), false),
  /** How often a job was begun for it: again only if the one before had changed nothing. */
  attempts: v.number(),
  /** Downloads of its files that failed one after the other, and brought nothing. */
  fetchFailures: v.optional(v.number()),
  jobId: v.optional(v.string()),
  /**
   * The last self-upgrade before the action's; empty: none. By id, as a clock may be set meanwhile.
   */
  selfUpgradeAfter: v.optional(v.string()),
  /** The time limit, in seconds, that its job was stopped for. */
  overLimitS: v.optional(v.number()),
  /** The boot that the device was restarted in for it, and seconds since that then. */
  restart: v.optional(v.object({ boot: v.string(), atS: v.number() })),
  /** What its settings change, a line each, for people. */
  diff: v.optional(v.array(v.string())),
  /** Versions of the packages that it has installed, by name: drift is told by them. */
  rolledOut: v.optional(byName(v.string())),
  end: v.optional(endSchema),
  /** Whether the server has the end, or will never take it. */
  isReported: v.boolean(),
  /** Times that the server did not know the action when it was sent the end. */
  unknownReports: v.optional(v.number(), 0),
});

/**
 * One action of the server's, on record before anything of it begins. Invariants:
 *  - an end never changes, and is on the medium before the server is sent it;
 *  - an action with an end is never begun again, whatever the server offers.
 */
export type ActionRecord = v.InferOutput<typeof recordSchema>;
export type NewRecord = v.InferInput<typeof recordSchema>;

export function isOpen({ end }: ActionRecord): boolean {
  return end === undefined;
}
