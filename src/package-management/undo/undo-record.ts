import * as v from 'valibot';
import { slots } from '../../jobs/memory.ts';

/** Where what was replaced lies: on a data disk, in memory, or on the device's own flash. */
export const PLACE_KINDS = ['disk', 'memory', 'flash'] as const;

const place = v.object({ kind: v.picklist(PLACE_KINDS), folder: v.string() });
export type Place = v.InferOutput<typeof place>;

const changedPackage = v.object({
  name: v.string(),
  /** Versions; absent: it was not there. */
  before: v.optional(v.string()),
  after: v.optional(v.string()),
  /** The bytes that it took before. */
  bytes: v.optional(v.number()),
});
export type ChangedPackage = v.InferOutput<typeof changedPackage>;

const changedFile = v.object({
  path: v.string(),
  /** As `stateOf` says it; absent: it was not there. */
  before: v.optional(v.string()),
  after: v.optional(v.string()),
});
export type ChangedFile = v.InferOutput<typeof changedFile>;

const entries = {
  /** Absent if nothing had to be kept. */
  place: v.optional(place),
  /** SHA-256 of the list of what was kept: the disk may come back with something else on it. */
  sum: v.optional(v.string()),
  /** Absent before the job is through. */
  packages: v.optional(v.array(changedPackage)),
  /** Whose marks alone changed: whether somebody asked for them, or holds them. */
  marked: v.optional(v.array(v.string()), []),
  files: v.optional(v.array(changedFile), []),
  /** Why it cannot be undone, if that was known at once: a sentence. */
  no: v.optional(v.string()),
  /** What was replaced and could not be kept, for people. */
  lost: v.optional(v.array(v.string()), []),
};

/** What a job replaced. It is kept with the job; the copies lie in a folder of the job's id. */
export const replaced = slots('what was replaced', { undo: v.optional(v.object(entries), {}) });
export type Replaced = ReturnType<typeof replaced.read>['undo'];

export const NOTHING_REPLACED: Replaced = { marked: [], files: [], lost: [] };
