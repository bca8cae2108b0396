import { setTimeout as delay } from 'node:timers/promises';
import { DepotError, reasonOf } from '../errors.ts';
import type { Client } from './client.ts';
import type { Output } from './output.ts';
import { readTask, type Task } from './task.ts';

/** A daemon that is started again is back by then; counted from the break. */
const RECONNECT_MS = 30_000;
const RETRY_MS = 300;

export interface FollowOptions {
  client: Client;
  output: Output;
  id: string;
  /** Gets the log's text; resolves when more may come. */
  write: (text: string) => Promise<void>;
}

/** Where a reader is. */
interface Place {
  /** Bytes of the log that were handed on. */
  offset: string;
  /** When the connection broke; undefined while it stands. */
  brokenAt: number | undefined;
}

/**
 * Hands on a task's log from its beginning to its end. Where the connection breaks it goes on at the byte where it was.
 * @returns the task as it ended
 * @throws DepotError upstream_unreachable where the daemon stays away
 */
export async function followTask(options: FollowOptions): Promise<Task> {
  const { client, output, id } = options;
  const place: Place = { offset: '0', brokenAt: undefined };
  for (;;) {
    const reason = await readOn(options, place);
    if (reason === undefined) return readTask(id, await client.get('admin/system/tasks/status', { task_id: id }));
    if (place.brokenAt === undefined) output.say(`${reason}; trying again for ${RECONNECT_MS / 1000} s, the task itself goes on …`);
    place.brokenAt ??= performance.now();
    if (performance.now() - place.brokenAt > RECONNECT_MS) throw new DepotError('upstream_unreachable', `cannot follow task ${id} any longer: ${reason}`);
    await delay(RETRY_MS);
  }
}

/** @returns why there was no more to read; undefined at the end of the task */
async function readOn({ client, output, id, write }: FollowOptions, place: Place): Promise<string | undefined> {
  try {
    for await (const { event, id: position, data } of client.events('admin/system/tasks/events', { task_id: id, offset: place.offset })) {
      if (place.brokenAt !== undefined) output.say('connected again');
      place.brokenAt = undefined;
      if (event === 'end') return undefined;
      if (event !== 'log' || typeof data !== 'string') continue;
      place.offset = position;
      await write(data);
    }
    return 'the daemon ended the connection';
  } catch (error) {
    if (!isBreak(error)) throw error;
    return reasonOf(error);
  }
}

function isBreak(error: unknown): boolean {
  return error instanceof DepotError && (error.code === 'upstream_unreachable' || error.code === 'unavailable');
}
