import { DepotError } from '../errors.ts';
import { memberIn, numberIn, textIn } from './answer-fields.ts';
import type { Client } from './daemon-client.ts';

/** What this client uses of a task's status. Times are Unix seconds. */
export type Task = ReturnType<typeof readTask>;

export function readTask(id: string, body: unknown) {
  const raw = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  const progress = memberIn(raw, 'progress');
  return {
    id,
    state: textIn(raw, 'state'),
    isRunning: raw.running === true,
    command: textIn(raw, 'command'),
    startedAt: numberIn(raw, 'start') ?? 0,
    stoppedAt: numberIn(raw, 'stop'),
    exitCode: numberIn(raw, 'exit_code'),
    error: textIn(raw, 'error'),
    /** What kind of failure it is, and what can be done. */
    errorCode: textIn(raw, 'error_code'),
    remedy: textIn(raw, 'remedy'),
    kind: textIn(raw, 'kind'),
    /** What it is about, such as a package. */
    subject: textIn(raw, 'package'),
    stage: { label: textIn(progress, 'label'), percent: numberIn(progress, 'percent') },
    /** The daemon's answer as it came. */
    raw,
  };
}

export async function fetchTask(client: Client, id: string): Promise<Task> {
  return readTask(id, await client.get('admin/system/tasks/status', { task_id: id }));
}

/** All tasks, newest first: the daemon lists them in the order in which it took them. */
export async function listTasks(client: Client): Promise<Task[]> {
  const body = await client.get('admin/system/tasks/status');
  return Object.entries(body as Record<string, unknown>)
    .map(([id, task]) => readTask(id, task))
    .reverse();
}

/**
 * @param name an id, the beginning of one, or `latest`, which like no name at all is the newest
 * @throws DepotError not_found; bad_request if several ids begin so
 */
export async function findTask(client: Client, name = 'latest'): Promise<Task> {
  const tasks = await listTasks(client);
  const found =
    name === 'latest' ? tasks.slice(0, 1) : tasks.filter(({ id }) => id.startsWith(name));
  const [task, second] = found;
  if (task === undefined) {
    throw new DepotError(
      'not_found',
      tasks.length === 0
        ? 'cannot find a task: there are none yet'
        : `cannot find the task ${name}: "depotctl jobs" lists them`,
    );
  }
  if (second !== undefined) {
    const message = `cannot tell which task ${name} is: ${found.map(({ id }) => id).join(', ')}`;
    throw new DepotError('bad_request', message);
  }
  return task;
}

/** Enough of an id to tell tasks apart by eye, and for `findTask`. */
export function shortId(id: string): string {
  return id.slice(0, 8);
}
