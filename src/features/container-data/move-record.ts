import * as v from 'valibot';
import { slots } from '../../jobs/memory.ts';

const container = v.object({ id: v.string(), name: v.string() });

/** What a move remembers from step to step, and what its repair goes by. */
export const move = slots('the move', {
  /** The configuration as it was. */
  setting: v.object({
    path: v.string(),
    file: v.string(),
    kind: v.picklist(['uci', 'json']),
    text: v.optional(v.string()),
  }),
  /** Where the old data is, without symbolic links. */
  source: v.string(),
  /** Whether the engine answered, and what ran: at the beginning, then when it was stopped. */
  hasRun: v.boolean(),
  containers: v.array(container),
  /** The target's file system; empty until it was checked. */
  device: v.optional(v.string(), ''),
  /** Bytes to be copied. */
  bytes: v.optional(v.number(), 0),
  /** What the old place holds, if it was measured. */
  heldBytes: v.optional(v.number()),
  /** The uppermost folder that was made for the target. */
  created: v.optional(v.string()),
  /** From here on the engine may be stopped, and be so because of this job. */
  isStopping: v.optional(v.boolean(), false),
  /** Copying what had changed left differences: a pass over everything is needed. */
  isThorough: v.optional(v.boolean(), false),
  /** The engine runs at the new place: nothing is undone any more. */
  isDone: v.optional(v.boolean(), false),
  /** The engine cannot be made to leave the new place: nothing is undone any more, either. */
  isStuck: v.optional(v.boolean(), false),
});

export type MoveRecord = ReturnType<typeof move.read>;
