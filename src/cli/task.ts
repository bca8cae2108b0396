import { DepotError } from '../errors.ts';
import { textIn, type Client } from './client.ts';

/** What this client uses of a task's status. Times are Unix seconds. */
export interface Task {
  id: string;
  state: string;
  isRunning: boolean;
  command: string;
  startedAt: number;
  stoppedAt: number | undefined;
  exitCode: number | undefined;
  error: string;
  /** What can be done about it. */
  remedy: string;
  /** The step that it is at. */
  step: string;
  /** The answer as it came. */
  raw: Record<string, unknown>;
}

export function readTask(id: string, body: unknown): Task {
  const raw = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  const numberIn = (name: string): number | undefined =>
    typeof raw[name] === 'number' ? raw[name] : undefined;
  return {
    id,
    state: textIn(raw, 'state'),
    isRunning: raw.running === true,
    command: textIn(raw, 'command'),
    startedAt: numberIn('start') ?? 0,
    stoppedAt: numberIn('stop'),
    exitCode: numberIn('exit_code'),
    error: textIn(raw, 'error'),
    remedy: textIn(raw, 'remedy'),
    step: textIn(raw.progress, 'label'),
    raw,
  };
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
    throw new DepotError(
      'bad_request',
      `cannot tell which task ${name} is: ${found.map(({ id }) => id).join(', ')}`,
    );
  }
  return task;
}

/** Enough of an id to tell tasks apart by eye, and for `findTask`. */
export function shortId(id: string): string {
  return id.slice(0, 8);
}
