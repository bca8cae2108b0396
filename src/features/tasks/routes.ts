import * as v from 'valibot';
import { DepotError } from '../../errors.ts';
import { isEnded, type Job } from '../../jobs/job.ts';
import type { TaskLogs } from '../../jobs/task-logs.ts';
import type { FeatureContext, TaskNotes } from '../feature.ts';
import { PACKAGE_LANE } from '../../package-management/manager.ts';
import { END_MARK, followTask } from './follow-task.ts';
import { eventStream } from '../../http/event-stream.ts';
import { json } from '../../http/respond.ts';
import { get, getStream, post, type Route } from '../../http/route.ts';

/** Streams end when the daemon stops. */
type TaskTools = Pick<FeatureContext, 'queue' | 'logs' | 'stopping'> & TaskNotes;
type Queue = TaskTools['queue'];

const taskId = v.pipe(v.string(), v.maxLength(64, 'at most 64 characters are allowed'));
const offset = v.optional(
  v.pipe(v.string(), v.regex(/^\d{1,15}$/, 'a number of bytes is expected')),
);

/** The task-log facility, below `admin/system/tasks/`. */
export function taskRoutes({ queue, logs, stopping, describe, refresh }: TaskTools): Route[] {
  /** `istore` and `latest` name the newest package task; anything else is an id or nothing. */
  const find = (id: string): Job | undefined => {
    if (id === ISTORE_TASK) return istoreTask(queue);
    return id === 'latest' ? queue.newest(PACKAGE_LANE) : queue.get(id);
  };
  const statusOf = (job: Job): object => ({
    ...describeTask(job),
    ...describe(job),
    progress: progressOf(job),
  });
  const need = (id: string): Job => {
    const job = find(id);
    if (job === undefined) throw new DepotError('not_found', `cannot find the task ${id}`);
    return job;
  };

  return [
    get({
      path: 'admin/system/tasks',
      summary: 'Nothing: whether the task-log facility is there',
      handle: () => json({}),
    }),
    get({
      path: 'admin/system/tasks/status',
      summary: 'The state of one task, or of all by id',
      params: { task_id: v.optional(taskId) },
      handle: async ({ params: { task_id: id } }) => {
        const job = id === undefined ? undefined : find(id);
        if (id !== undefined && job === undefined) return json(UNKNOWN);
        await refresh(job);
        if (job !== undefined) return json(statusOf(job));
        return json(Object.fromEntries(queue.all().map((each) => [each.id, statusOf(each)])));
      },
    }),
    get({
      path: 'admin/system/tasks/log',
      summary: "Bytes of a task's log from an offset",
      params: { task_id: taskId, offset },
      handle: ({ params, context }) =>
        logFrom(logs, {
          job: need(params.task_id),
          offset: Number(params.offset ?? 0),
          signal: context.req.raw.signal,
        }),
    }),
    getStream({
      path: 'admin/system/tasks/events',
      summary: "A task's log and state as they come (Server-Sent Events)",
      params: { task_id: taskId, offset },
      handle: ({ params, context, watchSession }) => {
        const job = need(params.task_id);
        const lastEvent = context.req.header('last-event-id') ?? '';
        // EventSource comes back after each end; this status alone has it stop (HTML standard).
        if (lastEvent.endsWith(END_MARK) && isEnded(job.state)) return noContent();
        const from = Number(/^\d{1,15}/.exec(lastEvent)?.[0] ?? params.offset ?? 0);
        const follow = (signal: AbortSignal) =>
          followTask({
            logs,
            statusOf: () => refresh(job).then(() => statusOf(job)),
            hasEnded: () => isEnded(job.state),
            id: job.id,
            from,
            signal,
          });
        return eventStream(follow, { signals: [context.req.raw.signal, stopping], watchSession });
      },
    }),
    post({
      path: 'admin/system/tasks/stop',
      summary: 'Drop a queued task, stop a running one',
      params: { task_id: taskId },
      handle: async ({ params: { task_id: id } }) => {
        if (id === ISTORE_TASK) await stopIstoreTask(queue);
        else await queue.stop(need(id).id);
        return noContent();
      },
    }),
  ];
}

const UNKNOWN = { running: false, exit_code: 404, is_unknown: true };

function noContent(): Response {
  return new Response(null, { status: 204 });
}

/** The one task that iStore's page and its task window know. */
const ISTORE_TASK = 'istore';

/**
 * The newest package task. Once its window has been closed: one that is still under way, or none,
 * or the page would open the window again.
 */
function istoreTask(queue: Queue): Job | undefined {
  const newest = queue.newest(PACKAGE_LANE);
  if (newest?.isDismissed !== true) return newest;
  return queue.all().findLast(({ lane, state }) => lane === PACKAGE_LANE && !isEnded(state));
}

/** The window closes an ended task by stopping it; closing one that is gone is no mistake. */
async function stopIstoreTask(queue: Queue): Promise<void> {
  const job = istoreTask(queue);
  if (job === undefined) return;
  if (isEnded(job.state)) await queue.dismiss(job.id);
  else await queue.stop(job.id);
}

/** A task that waits for its turn counts as running: its clients wait until it is not. */
export function describeTask(job: Job): object {
  const { startedAt: start = job.createdAt, stoppedAt } = job;
  return {
    running: !isEnded(job.state),
    exit_code: job.exitCode,
    command: job.command,
    start,
    // The clock may have been set back meanwhile.
    stop: stoppedAt && Math.max(start, stoppedAt),
    state: job.state,
    kind: job.kind,
    package: job.subject,
    error: job.error,
    error_code: job.errorCode,
    remedy: job.remedy,
    packages: job.packages,
    ...job.result,
  };
}

/** From the record alone: plans are made for jobs that run, not for those who look at them. */
function progressOf({ state, done, stepLabel, stepCount = 0, percent }: Job): object {
  return {
    label: isEnded(state) ? state : (stepLabel ?? 'end'),
    done: state === 'done' ? stepCount : done.length,
    total: stepCount,
    percent,
  };
}

/** How long a reader who has everything is kept waiting for more. */
const MORE_MS = 1000;
/** A log is sent in pieces of this size, so that a large one is never in memory. */
const PIECE_BYTES = 64 * 1024;

async function logFrom(
  logs: TaskLogs,
  { job, offset: from, signal }: { job: Job; offset: number; signal: AbortSignal },
): Promise<Response> {
  const hasAll = (await logs.size(job.id)) === from || job.state === 'queued';
  if (hasAll && !isEnded(job.state)) {
    await logs.waitForMore(job.id, { offset: from, timeoutMs: MORE_MS, signal });
  }
  const size = await logs.size(job.id);
  if (size === undefined && isEnded(job.state)) {
    throw new DepotError('not_found', `cannot find the log of task ${job.id}`);
  }
  const headers = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };
  const length = (size ?? 0) - from;
  if (length <= 0) return new Response(null, { status: length < 0 ? 205 : 204, headers });
  return new Response(ReadableStream.from(pieces(logs, { id: job.id, from, length })), {
    headers: {
      ...headers,
      'content-type': 'application/octet-stream',
      'content-length': String(length),
    },
  });
}

async function* pieces(
  logs: TaskLogs,
  { id, from, length }: { id: string; from: number; length: number },
): AsyncGenerator<Uint8Array> {
  for (let at = from; at < from + length;) {
    const piece = await logs.read(id, at, Math.min(PIECE_BYTES, from + length - at));
    if (piece.length === 0) return;
    at += piece.length;
    yield piece;
  }
}
