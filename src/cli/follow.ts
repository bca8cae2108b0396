import { setTimeout as delay } from 'node:timers/promises';
import { DepotError } from '../errors.ts';
import type { Client } from './daemon-client.ts';
import type { Output } from './terminal/output.ts';
import { progressLine } from './terminal/progress-line.ts';
import { fetchTask, listTasks, readTask, shortId, type Task } from './task.ts';

const RETRY_MS = 300;
/** The kind of task that nobody waits for: it runs beside the others. */
const MOVE = 'docker_migrate';
/** A log that comes in no stream is asked for this often, so many times between two streams. */
const POLL_MS = 1000;
const POLLS = 10;

export interface FollowOptions {
  client: Client;
  output: Output;
  id: string;
  /** Gets the log's text; resolves when more may come. */
  write: (text: string | Buffer) => Promise<void>;
  /** How long a daemon that is away is waited for; counted from the break. */
  patienceMs: number;
}

/** Where the reader of a task's log is. */
interface Place {
  /** Bytes of the log that were handed on. */
  offset: number;
  /** When the connection broke; undefined while it stands. */
  brokenAt: number | undefined;
}

/**
 * Why there was no more to read. `cut`: after a while, as a server in front does to streams; `no
 * room`: such a server has no room for one now; else what the break says.
 */
type Stop = 'end' | 'cut' | 'no room' | DepotError;

/**
 * Hands on a task's log to its end. If the connection breaks it goes on at the byte where it was.
 * @returns the task as it ended
 * @throws DepotError upstream_unreachable if the daemon stays away; forbidden if the log-in ended
 */
export function followTask(options: FollowOptions): Promise<Task> {
  return follow(options).finally(() => options.output.progress(''));
}

async function follow(options: FollowOptions): Promise<Task> {
  const { client, output, id, patienceMs } = options;
  const place: Place = { offset: 0, brokenAt: undefined };
  for (;;) {
    const streamed = await readStream(options, place);
    const stop = streamed === 'no room' ? await poll(options, place) : streamed;
    if (stop === 'end') return fetchTask(client, id);
    if (stop instanceof DepotError) {
      if (place.brokenAt === undefined) {
        output.say(
          `${stop.message}; trying again for ${patienceMs / 1000} s, the task itself goes on …`,
        );
      }
      place.brokenAt ??= performance.now();
      if (performance.now() - place.brokenAt > patienceMs) {
        const message = `cannot follow task ${id} any longer: ${stop.message}`;
        throw new DepotError('upstream_unreachable', message);
      }
    }
    await delay(RETRY_MS);
  }
}

/** How far it is, or which task it waits for. */
async function showProgress({ client, output }: FollowOptions, task: Task): Promise<void> {
  if (task.state !== 'queued') {
    const stage = { ...task.stage, label: output.look.word(task.stage.label) };
    output.progress(stage.label === '' ? '' : (columns) => progressLine(stage, columns));
    return;
  }
  const others = await listTasks(client).catch(() => []);
  const ahead = others.find(({ state, kind }) => state === 'running' && kind !== MOVE);
  output.progress(
    ahead === undefined
      ? `waiting: ${task.command}`
      : `waiting for ${shortId(ahead.id)} (${ahead.command}): ${task.command}`,
  );
}

function isConnected({ output }: FollowOptions, place: Place): void {
  if (place.brokenAt !== undefined) output.say('connected again');
  place.brokenAt = undefined;
}

async function readStream(options: FollowOptions, place: Place): Promise<Stop> {
  const { client, id, write } = options;
  let stop: Stop = new DepotError('upstream_unreachable', 'the daemon ended the connection');
  try {
    const from = { task_id: id, offset: String(place.offset) };
    const events = client.events('admin/system/tasks/events', from);
    for await (const { event, id: position, data } of events) {
      isConnected(options, place);
      if (event === 'end') return 'end';
      stop = 'cut';
      if (event === 'status') await showProgress(options, readTask(id, data));
      if (event !== 'log' || typeof data !== 'string') continue;
      place.offset = Number(position);
      await write(data);
    }
    return stop;
  } catch (error) {
    if (error instanceof DepotError && error.code === 'unavailable') return 'no room';
    return breakOf(error);
  }
}

/** In a while an event stream may find room again. */
async function poll(options: FollowOptions, place: Place): Promise<Stop> {
  try {
    for (let round = 0; round < POLLS; round += 1) {
      // In this order: a task that has ended writes nothing more, so what is read then is all.
      const task = await fetchTask(options.client, options.id);
      isConnected(options, place);
      await showProgress(options, task);
      await readMore(options, place);
      if (!task.isRunning) return 'end';
      await delay(POLL_MS);
    }
    return 'cut';
  } catch (error) {
    return breakOf(error);
  }
}

async function readMore({ client, id, write }: FollowOptions, place: Place): Promise<void> {
  try {
    const from = { task_id: id, offset: String(place.offset) };
    for await (const chunk of client.read('admin/system/tasks/log', from)) {
      place.offset += chunk.length;
      await write(chunk);
    }
  } catch (error) {
    // A task that was dropped before it began has no log.
    if (!(error instanceof DepotError) || error.code !== 'command_failed') throw error;
  }
}

/** A refusal is no break: it goes to the caller. */
function breakOf(error: unknown): DepotError {
  const codes = ['upstream_unreachable', 'unavailable'];
  if (error instanceof DepotError && codes.includes(error.code)) return error;
  throw error;
}
