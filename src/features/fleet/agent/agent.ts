import { setTimeout as delay } from 'node:timers/promises';
import * as v from 'valibot';
import { createSequence } from '../../../device/concurrency-limit.ts';
import { DepotError } from '../../../errors.ts';
import type { FleetSettings } from '../options.ts';
import { nowMs } from '../clock.ts';
import { EARLY_MS, pauseMs, startPauseMs, type Schedule } from '../schedule.ts';
import { isOpen } from '../records/action-record.ts';
import { sayGoodbye } from './attributes.ts';
import { exchange, failureOf } from './exchange.ts';
import type { Fleet, Known } from './fleet.ts';
import { isAtWork, PROGRESS_MS, reportProgress } from './report-progress.ts';
import { tidyDownloads } from './transfer.ts';

export type Agent = ReturnType<typeof createAgent>;

/**
 * Asks the server from time to time, by one timer. Invariants:
 *  - there is one timer, and one exchange at a time;
 *  - it wakes for the next poll, and more often only while a job of an action runs, or for a
 *    download that is to be tried again;
 *  - switched off, nothing is sent but that it is.
 */
export function createAgent(fleet: Fleet, random = Math.random) {
  const { known, settings, log } = fleet;
  const memory = createMemory(fleet);
  let timer: NodeJS.Timeout | undefined;
  let last: Promise<void> = Promise.resolve();
  let isClosed = false;

  const isActive = (): boolean => !isClosed && memory.isOn() && settings().server !== '';
  const dueAt = (): number => known.nextPollMs ?? 0;
  const planNext = (ms: number): void => void (known.nextPollMs = dueMs(known, ms));
  const arm = (): void => {
    clearTimeout(timer);
    if (!isActive()) return;
    const untilPoll = Math.max(0, dueAt() - nowMs());
    const pause = isAtWork(fleet) ? Math.min(untilPoll, PROGRESS_MS) : untilPoll;
    timer = setTimeout(() => void run('timer'), pause);
  };
  const run = (why: 'timer' | 'asked' | 'woken'): Promise<void> =>
    (last = last
      .then(async () => {
        if (!isActive()) return;
        const isDue = why === 'asked' || nowMs() >= dueAt() - EARLY_MS;
        const plannedFor = dueAt();
        const { polledMs } = known;
        const isGood = await exchangeOnce(fleet, { isDue, isWoken: why === 'woken' });
        // A reload or a switch may have planned the next one meanwhile.
        if ((known.polledMs !== polledMs || !isGood) && dueAt() === plannedFor) {
          planNext(pauseMs(scheduleOf(fleet), random));
        }
        if (isGood) await memory.keep();
      })
      .catch((error: unknown) => log.error({ reason: failureOf(error) }, 'fleet agent failed'))
      .finally(arm));
  const begin = (hasAction: boolean): void => {
    planNext(startPauseMs(scheduleOf(fleet), hasAction, random));
    arm();
  };

  let used = settings();
  const start = async (): Promise<void> => {
    await memory.restore();
    begin(fleet.records.all().some((record) => isOpen(record) || !record.isReported));
  };

  return {
    start,
    /** Takes over the options as they are now. What comes from another server is broken off. */
    reload: async (): Promise<void> => {
      last = last.then(adoptOptions(fleet, used, memory.isOn()));
      used = settings();
      await start();
    },
    /** An exchange as soon as the one under way is over. Resolves when it is over. */
    pollNow: async (): Promise<void> => {
      if (!memory.isOn()) {
        throw new DepotError('unavailable', 'cannot poll: the fleet is switched off');
      }
      // The owner has mended something, maybe.
      if (known.fetchFailure !== undefined) known.fetchFailure.againMs = 0;
      await run('asked');
    },
    /** Begins an exchange since something has ended; shortly behind a poll it does not poll. */
    wake: (): void => void run('woken'),
    /** Moves the next exchange ahead to when a failed download may be tried again. */
    replan: (): void => {
      planNext(Math.max(0, dueAt() - nowMs()));
      arm();
    },
    switchTo: async (wanted: boolean): Promise<void> => {
      memory.switchTo(wanted);
      known.transfer?.controller.abort();
      await memory.keep();
      log.info({ isOn: memory.isOn() }, 'fleet switched');
      last = last.then(leaving(fleet, used, isActive));
      begin(true);
    },
    isOn: memory.isOn,
    close: async (): Promise<void> => {
      isClosed = true;
      clearTimeout(timer);
      known.transfer?.controller.abort();
      await Promise.race([last, delay(CLOSE_MS, undefined, { ref: false })]);
    },
  };
}

/** Says goodbye to the server that is left, unless it is the one in use again by then. */
function leaving(fleet: Fleet, from: FleetSettings, isBack: () => boolean): () => Promise<void> {
  return async () => {
    if (from.server === '' || isBack()) return;
    await sayGoodbye(fleet, from).catch((error: unknown) =>
      fleet.log.info({ reason: failureOf(error) }, 'fleet server not told that it is left'),
    );
  };
}

/** The options are other ones, maybe. @returns what is to be sent to the server of before */
function adoptOptions(fleet: Fleet, from: FleetSettings, isOn: boolean): () => Promise<void> {
  const { known, settings } = fleet;
  if (addressIn(from) !== addressIn(settings())) known.transfer?.controller.abort();
  known.looked = undefined;
  const isBack = (): boolean => !isOn || settings().server !== '';
  return leaving(fleet, from, isBack);
}

function scheduleOf({ known, settings }: Fleet): Schedule {
  const { intervalS, failures } = known;
  return { intervalS, mostS: settings().interval_max_s, failures };
}

/** When the next poll is: after a pause, or when a download may be tried again before that. */
function dueMs({ fetchFailure }: Known, pause: number): number {
  const againMs = fetchFailure?.againMs ?? 0;
  return Math.min(nowMs() + pause, againMs > nowMs() ? againMs : Infinity);
}

/** Which server is asked, and by which name of the device. */
function addressIn({ server, tenant, controller_id: id }: FleetSettings): string {
  return [server, tenant, id].join(' ');
}

/** How long an exchange under way may keep the daemon from ending. */
const CLOSE_MS = 1000;

/** @returns whether the server answered as it should */
async function exchangeOnce(
  fleet: Fleet,
  { isDue, isWoken }: { isDue: boolean; isWoken: boolean },
): Promise<boolean> {
  const { known, log } = fleet;
  const isAsked = isDue || isWoken;
  try {
    const server = await fleet.connect();
    try {
      if (isAsked) {
        await exchange(fleet, server, isDue);
        await tidyDownloads(fleet);
      }
      await reportProgress(fleet, server);
    } finally {
      server.client.close();
    }
    // Progress alone tells nothing of the server: what it does not take is lost.
    if (!isAsked) return true;
    if (known.failures > 0) log.info({ failures: known.failures }, 'fleet server is back');
    known.failures = 0;
    return true;
  } catch (error) {
    known.failures += 1;
    known.counts.polls.failed += 1;
    known.lastError = failureOf(error);
    log.warn({ reason: known.lastError, failures: known.failures }, 'fleet poll failed');
    return false;
  }
}

const noteSchema = v.object({
  isOff: v.optional(v.boolean(), false),
  intervalS: v.optional(v.number()),
});
type Note = v.InferOutput<typeof noteSchema>;
const NOTE = 'fleet/agent';

/**
 * What outlives the daemon. It is written only if it has changed: flash wears. One writer at a time
 * writes what is true then: a switch during an exchange is not undone by the end of that.
 */
function createMemory({ notes, known }: Fleet) {
  const inTurn = createSequence();
  /** Whether the server may act here; undefined before that was read or switched. */
  let state: 'on' | 'off' | undefined;
  const read = async (): Promise<Note> => {
    const found = v.safeParse(noteSchema, await notes.read(NOTE));
    return found.success ? found.output : { isOff: false };
  };
  const write = async (): Promise<void> => {
    const before = await read();
    const note = { isOff: state !== 'on', intervalS: known.intervalS };
    if (before.isOff !== note.isOff || before.intervalS !== note.intervalS) {
      await notes.write(NOTE, note);
    }
  };
  return {
    isOn: () => state === 'on',
    /** Reads what was kept, once: a start after a switch does not undo that. */
    restore: async () => {
      if (state !== undefined) return;
      const kept = await read();
      known.intervalS ??= kept.intervalS;
      // Who switched it meanwhile knows better.
      state ??= kept.isOff ? 'off' : 'on';
    },
    switchTo: (isOn: boolean): void => void (state = isOn ? 'on' : 'off'),
    keep: (): Promise<void> => inTurn(write),
  };
}
