import * as v from 'valibot';
import type { Job } from '../jobs/job.ts';
import { slots, type Content, type Remembering, type Scope } from '../jobs/memory.ts';
import { changedPackages, isPresent, type PackageDatabase } from './database.ts';
import { withNeeded } from './dependencies.ts';
import { byName } from './names.ts';

/**
 * What a transaction leaves for its later steps and for the repair. A job has one transaction under
 * way at a time, and its slots begin empty with it; the repair finds those of the last one.
 */
const NAME = 'transaction';

/** Up to 0.1.0 these lay in the memory itself: jobs that began so go on with them. */
const FORMER = [
  ...['names', 'expected', 'file', 'plan', 'lists', 'isDone', 'came', 'half', 'damage'],
  ...['isUndoneAgain', 'isWritten', 'lostSince', 'lowered'],
];

const SCOPE: Scope = {
  forReading: (memory) => transactionIn(memory) ?? memory,
  forWriting: (memory) => {
    const current = transactionIn(memory) ?? formerIn(memory);
    memory[NAME] = current;
    return current;
  },
};

/** Slots below the transaction under way. */
export function transactionSlots<Entries extends v.ObjectEntries>(owner: string, entries: Entries) {
  return slots(owner, entries, SCOPE);
}

/**
 * For each step of a transaction: from its first one on the slots are its own.
 * @param isFirst of its steps: what an earlier transaction has left is over
 */
export function enterTransaction({ memory }: Remembering, name: string, isFirst: boolean): void {
  const content = memory as Content;
  const current = transactionIn(content);
  if (current?.name === name) return;
  content[NAME] = { ...(isFirst || current !== undefined ? {} : formerIn(content)), name };
}

function transactionIn(memory: Content): Content | undefined {
  const found = memory[NAME];
  return typeof found === 'object' && found !== null ? (found as Content) : undefined;
}

function formerIn(memory: Content): Content {
  return Object.fromEntries(Object.entries(memory).filter(([key]) => FORMER.includes(key)));
}

/** What a plan decided to work on, kept in the job so that it is decided once. */
export const chosen = transactionSlots('the choice', {
  names: v.array(v.string()),
  expected: v.optional(byName(v.string())),
  file: v.optional(v.object({ path: v.string(), name: v.string() })),
});
export type Chosen = NonNullable<ReturnType<typeof chosen.find>>;

/**
 * What of these packages a job may have brought that was cut off: what else came since the boot,
 * before this daemon did, is of others, and so is what that needs.
 * @returns undefined if that cannot be told: all of them
 */
export function ownPackages(
  context: Remembering & { job: Pick<Job, 'verdict'> },
  { before, now }: { before: PackageDatabase; now: PackageDatabase },
): ReadonlySet<string> | undefined {
  const { names, file } = chosen.find(context) ?? { names: [] };
  const asked = file === undefined ? names : [file.name];
  if (asked.length === 0 || context.job.verdict?.state !== 'interrupted') return undefined;
  const own = withNeeded(now, asked);
  const others = changedPackages(before, now).filter(
    (name) => !own.has(name) && isPresent(now.get(name)),
  );
  const theirs = withNeeded(now, others);
  return new Set([...own].filter((name) => !theirs.has(name)));
}

/** How much of the transaction has come to the disk. */
export const lasting = transactionSlots('what is on the disk', {
  /** Whether what the command did has come to the disk; absent before anybody knows. */
  isWritten: v.optional(v.boolean()),
  /** Whether the record of before the job was put back, since its files had not. */
  isRestored: v.optional(v.boolean(), false),
});
