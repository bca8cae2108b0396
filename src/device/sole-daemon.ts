import { setTimeout as delay } from 'node:timers/promises';
import * as v from 'valibot';
import { DepotError } from '../errors.ts';
import type { Notes, Processes } from './ports.ts';
import { readProcess } from './process-table.ts';

const NOTE = 'daemon';
const claim = v.object({ pid: v.number(), startTicks: v.number(), bootId: v.string() });

/**
 * A daemon that stops lets answers be finished for 5 s, and its successor is often started before
 * that.
 */
const WAIT_MS = 10_000;
const POLL_MS = 50;

/**
 * Lets one daemon at a time work with the state folder: a second one would write the job records
 * anew under the first, run the same jobs, and take the first one's uploads for left behind.
 * Whoever died in whatever way holds nothing: a claim counts while its process lives.
 * @throws DepotError unavailable where another daemon has not ended within WAIT_MS
 */
export async function claimState(
  notes: Notes,
  processes: Pick<Processes, 'bootId' | 'isAlive'>,
): Promise<void> {
  const deadline = performance.now() + WAIT_MS;
  for (
    let holder = await holderOf(notes, processes);
    holder !== undefined;
    holder = await holderOf(notes, processes)
  ) {
    if (performance.now() > deadline) {
      throw new DepotError(
        'unavailable',
        `cannot start: process ${holder} works with the same main.state_dir`,
      );
    }
    await delay(POLL_MS);
  }
  const { pid } = process;
  const startTicks = (await readProcess(pid))?.startTicks ?? 0;
  // A folder without room for it has none for job records either, which are what is at stake.
  await notes
    .write(NOTE, { pid, startTicks, bootId: await processes.bootId() })
    .catch(() => undefined);
}

async function holderOf(
  notes: Notes,
  { isAlive }: Pick<Processes, 'isAlive'>,
): Promise<number | undefined> {
  const result = v.safeParse(claim, await notes.read(NOTE));
  if (!result.success || result.output.pid === process.pid) return undefined;
  return (await isAlive({ ...result.output, isOnTerminal: false })) ? result.output.pid : undefined;
}
