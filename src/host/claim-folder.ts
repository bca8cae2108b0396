import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { DepotError, reasonOf } from '../errors.ts';
import { replaceFile } from './durable-file.ts';
import type { Processes, ProcessMark } from './host.ts';
import { readProcess } from './process-table.ts';

/** Names the daemon that works with the folder. */
const CLAIM_FILE = 'daemon.json';
/** A daemon that is stopping still gives answers under way; the next one waits for it. */
const WAIT_MS = 8000;
const LOOK_MS = 200;

/**
 * Makes a state folder this daemon's own, until its process has ended: of two daemons each would write over the other's records.
 * @throws DepotError unavailable where another daemon has it and does not end within 8 s, or where the folder cannot be written
 */
export async function claimFolder(folder: string, processes: Pick<Processes, 'bootId' | 'isAlive'>): Promise<void> {
  const file = join(folder, CLAIM_FILE);
  const deadline = performance.now() + WAIT_MS;
  for (let owner = await readOwner(file, processes); owner !== undefined; owner = await readOwner(file, processes)) {
    if (performance.now() > deadline) throw new DepotError('unavailable', `cannot use ${folder}: depotd runs there already, as process ${owner.pid}`);
    await delay(LOOK_MS);
  }
  const entry = await readProcess(process.pid);
  const mark: ProcessMark = { pid: process.pid, startTicks: entry?.startTicks ?? 0, bootId: await processes.bootId(), isOnTerminal: false };
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await replaceFile(file, `${JSON.stringify(mark)}\n`);
  } catch (error) {
    throw new DepotError('unavailable', `cannot write to ${folder}: ${reasonOf(error)}`, { cause: error });
  }
}

/** @returns undefined where nobody has claimed the folder, or who did has ended */
async function readOwner(file: string, { isAlive }: Pick<Processes, 'isAlive'>): Promise<ProcessMark | undefined> {
  const text = await readFile(file, 'utf8').catch(() => '');
  try {
    const mark = JSON.parse(text) as ProcessMark;
    return mark.pid !== process.pid && (await isAlive(mark)) ? mark : undefined;
  } catch {
    // No file, or one that a power cut left empty.
    return undefined;
  }
}
