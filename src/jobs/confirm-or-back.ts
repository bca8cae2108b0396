import { uptime } from 'node:os';
import * as v from 'valibot';
import { createSequence } from '../device/concurrency-limit.ts';
import type { Notes, Processes } from '../device/ports.ts';
import { failureTo, reasonOf } from '../errors.ts';
import type { Log } from '../log.ts';
import { isEnded, unixNow, type Job } from './job.ts';
import type { Queue } from './queue.ts';

export type ConfirmOrBack = ReturnType<typeof createConfirmOrBack>;

/** `unknown`: it does not have to be confirmed, or has not ended. */
export type Outcome = 'confirmed' | 'back' | 'unknown';

export interface ConfirmOrBackOptions {
  notes: Notes;
  /** Name of the note in which changes wait to be confirmed. */
  note: string;
  queue: Pick<Queue, 'all' | 'get' | 'onChange'>;
  processes: Pick<Processes, 'bootId'>;
  log: Log;
  /** Seconds to confirm an ended job in; one that failed may have left a part of its change. */
  secondsOf: (job: Job) => number | undefined;
  /**
   * Safe to be called again. One that throws is called again until it does not: at once, and then
   * ever less often, up to once an hour.
   */
  back: (job: Job) => Promise<void>;
  /** Seconds since the boot. */
  uptimeS?: () => number;
}

const entrySchema = v.variant('state', [
  v.object({
    state: v.literal('waiting'),
    bootId: v.string(),
    /** Seconds since that boot. */
    until: v.number(),
    boots: v.number(),
  }),
  v.object({ state: v.picklist(['confirmed', 'back']) }),
]);
type Entry = v.InferOutput<typeof entrySchema>;
const noteSchema = v.record(v.string(), entrySchema);

const CHECK_MS = 1000;
const LONGEST_PAUSE_S = 3600;
/** After more boots than this the change goes back at once. */
const AGAIN = 1;

/**
 * Changes that may cut off whoever asked for them: each goes back by itself unless it is confirmed
 * in time. A feature makes one of its own, with a note of its own, and says
 *  - `secondsOf`: which of its jobs have to be confirmed, and within how many seconds. It goes by
 *    what the journal has of the job, such as a parameter: that outlives whatever kills the daemon;
 *  - `back`: what takes the change back, a job mostly, whose end it waits for. It may be called
 *    again for the same job;
 * and calls `confirm` when its judge has seen that the device can be reached: a request of the
 * owner's client, or an exchange with the operator's server. It calls `start` in its own `start`,
 * when jobs run. Nobody else is told of the time that is left: `confirmBy` is for status answers.
 *
 * Invariants:
 *  - the time begins when the job has ended, and goes by the seconds since the boot: the
 *    wall clock is wrong after a boot without a battery, and jumps when it is set;
 *  - a daemon that was killed goes on with the time that was left;
 *  - after a boot the whole time begins anew, once: after the next boot the change goes back at
 *    once, since a device that boots again and again never has time enough; so it does after a boot
 *    in the midst of going back;
 *  - whatever cannot be recorded leads to going back, never to staying.
 */
export function createConfirmOrBack(options: ConfirmOrBackOptions) {
  const { notes, note, queue, processes, log, secondsOf, uptimeS = uptime } = options;
  const entries = new Map<string, Entry>();
  let bootId: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  const inTurn = createSequence();

  const save = (): Promise<void> => {
    for (const id of entries.keys()) if (queue.get(id) === undefined) entries.delete(id);
    return inTurn(() => notes.write(note, Object.fromEntries(entries)));
  };
  const saveIfPossible = (): Promise<void> =>
    save().catch(failureTo(log, 'record of what is to be confirmed not written', { note }));
  /** Whether anything waits: a daemon that ends meanwhile by itself has to be started again. */
  const isWaiting = (): boolean => [...entries.values()].some(({ state }) => state === 'waiting');
  const watch = (): void => {
    timer ??= setInterval(() => void check(), CHECK_MS);
  };
  const open = (job: Job, boots: number): void => {
    const seconds = isEnded(job.state) ? secondsOf(job) : undefined;
    if (bootId === undefined || seconds === undefined) return;
    const until = boots > AGAIN ? 0 : uptimeS() + seconds;
    entries.set(job.id, { state: 'waiting', bootId, until, boots });
    watch();
  };
  const endOf = queue.onChange((job) => {
    if (entries.has(job.id)) return;
    open(job, 0);
    if (entries.has(job.id)) void saveIfPossible();
  });
  const { isOver, revertDue } = createGoingBack(options, entries, saveIfPossible);
  /** Takes back whose time is over. */
  const check = async (): Promise<void> => {
    await revertDue();
    if (isWaiting()) return;
    clearInterval(timer);
    timer = undefined;
  };
  return {
    /** @throws DepotError no_space, unavailable: then it is not confirmed */
    confirm: async (id: string): Promise<Outcome> => {
      const entry = entries.get(id);
      if (entry?.state !== 'waiting') return entry?.state ?? 'unknown';
      if (isOver(id)) return 'back';
      entries.set(id, { state: 'confirmed' });
      await save().catch((error: unknown) => {
        entries.set(id, entry);
        throw error;
      });
      return 'confirmed';
    },
    /** Whether the job waits to be confirmed, or goes back at the moment. */
    isOpen: (id: string): boolean => entries.get(id)?.state === 'waiting',
    /** When a job goes back, Unix seconds; undefined unless it waits to be confirmed. */
    confirmBy: (id: string): number | undefined => {
      const entry = entries.get(id);
      if (entry?.state !== 'waiting' || isOver(id)) return undefined;
      return unixNow() + Math.ceil(entry.until - uptimeS());
    },
    isWaiting,
    /** Goes on with what an earlier daemon left. */
    start: async (): Promise<void> => {
      bootId = await processes.bootId();
      const found = v.safeParse(noteSchema, await notes.read(note));
      for (const [id, entry] of Object.entries(found.success ? found.output : {})) {
        const job = queue.get(id);
        if (entry.state !== 'waiting' || entry.bootId === bootId) entries.set(id, entry);
        else if (job !== undefined) open(job, entry.boots + 1);
      }
      for (const job of queue.all()) if (!entries.has(job.id)) open(job, 0);
      if (!isWaiting()) return;
      watch();
      await saveIfPossible();
    },
    check,
    close: (): void => {
      endOf();
      clearInterval(timer);
    },
  };
}

/** Takes back one after the other, and each once at a time. */
function createGoingBack(
  { queue, log, back, uptimeS = uptime }: ConfirmOrBackOptions,
  entries: Map<string, Entry>,
  save: () => Promise<void>,
) {
  let isUnderWay = false;
  /** Tries that failed, and the seconds since the boot before which there is no other. */
  const failed = new Map<string, { tries: number; untilS: number }>();
  const isOver = (id: string): boolean => {
    const entry = entries.get(id);
    return entry?.state === 'waiting' && entry.until <= uptimeS();
  };
  const revert = async (id: string): Promise<void> => {
    const job = queue.get(id);
    const entry = entries.get(id);
    try {
      if (entry?.state === 'waiting') entries.set(id, { ...entry, boots: AGAIN });
      await save();
      if (job !== undefined) await back(job);
      entries.set(id, { state: 'back' });
      await save();
    } catch (error) {
      log.error({ task: id, reason: reasonOf(error) }, 'what was not confirmed cannot go back yet');
      const tries = (failed.get(id)?.tries ?? 0) + 1;
      const pauseS = tries === 1 ? 0 : Math.min(2 ** tries, LONGEST_PAUSE_S);
      failed.set(id, { tries, untilS: uptimeS() + pauseS });
    }
  };
  return {
    isOver,
    revertDue: async (): Promise<void> => {
      if (isUnderWay) return;
      isUnderWay = true;
      for (const id of [...entries.keys()]) {
        if (isOver(id) && (failed.get(id)?.untilS ?? 0) <= uptimeS()) await revert(id);
      }
      isUnderWay = false;
    },
  };
}
