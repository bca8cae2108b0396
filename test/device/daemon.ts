import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import {
  launchDaemon,
  type DaemonDevice,
  type DaemonOptions,
  type EndingSignal,
  type LaunchedDaemon,
} from './daemon-process.ts';
import type { Ended } from './daemon-hosts.ts';

/** What `admin/system/tasks/status` tells of one task. */
export interface TaskStatus {
  running: boolean;
  exit_code?: number;
  command: string;
  start: number;
  stop?: number;
  state: 'queued' | 'running' | 'done' | 'failed' | 'stopped' | 'interrupted';
  kind: string;
  package: string;
  error?: string;
  error_code?: string;
  remedy?: string;
  packages?: string[];
  progress: { label: string; done: number; total: number };
}

export type Parameters = Readonly<Record<string, string>>;

/** The built daemon as a process of its own, working on a device in a folder, without log-in. */
export interface TestDaemon {
  /** `http://127.0.0.1:PORT`; another one after a restart. */
  readonly url: string;
  /** Root of the CGI path tree, `/cgi-bin/panel` unless set otherwise. */
  readonly base: string;
  readonly pid: number;
  /** What the daemon has logged, one line an event; it goes on over restarts. */
  readonly log: readonly string[];
  /** The fields of the first event of that name; waits for it. */
  readonly logged: (event: string) => Promise<Record<string, unknown>>;
  readonly token: () => Promise<string>;
  /** A path that begins with a slash counts from the root, any other from `base`. */
  readonly get: (path: string, headers?: Parameters) => Promise<Response>;
  /** Sends the parameters in the query, and the token with them unless they name one. */
  readonly post: (path: string, params?: Parameters) => Promise<Response>;
  /** Starts an operation of the store, such as `install`; gives the id of its task. */
  readonly submit: (operation: string, params?: Parameters) => Promise<string>;
  readonly status: (taskId: string) => Promise<TaskStatus>;
  /** Waits until the task has ended. */
  readonly finished: (taskId: string, limitMs?: number) => Promise<TaskStatus>;
  /** The whole log so far. */
  readonly logOf: (taskId: string) => Promise<string>;
  /** Settles when the process has ended; for other signals there is `pid`. */
  readonly kill: (signal: EndingSignal) => Promise<Ended>;
  /** Ends the daemon if it still runs, and starts another on the same device. */
  readonly restart: () => Promise<void>;
  /** Ends the daemon; the device stays. */
  readonly close: () => Promise<void>;
}

const FINISHED_LIMIT_MS = 40_000;
/** Each question costs daemon and test some 3 ms of processor: what lasts is asked for less often. */
const POLL_MS = { least: 60, most: 250, share: 1 / 4 };
/** What the log tells costs nothing to see: it is asked for only in case the log does not. */
const LOG_MS = { look: 15, ask: 1000 };

export async function startDaemon(
  device: DaemonDevice,
  options: DaemonOptions = {},
): Promise<TestDaemon> {
  const log: string[] = [];
  let daemon: LaunchedDaemon = await launchDaemon(device, options, log);
  const client = createClient({
    url: () => daemon.url,
    base: baseOf(options),
    run: () => daemon,
    hasEnded: (taskId) =>
      log.some((line) => line.includes(taskId) && line.includes('"event":"job ended"')),
  });
  return {
    ...client,
    get url() {
      return daemon.url;
    },
    get pid() {
      return daemon.pid;
    },
    base: baseOf(options),
    log,
    logged: (event) => waitForEvent(log, event),
    kill: (signal) => daemon.kill(signal),
    restart: async () => {
      await daemon.stop();
      daemon = await launchDaemon(device, options, log);
    },
    close: () => daemon.stop(),
  };
}

function baseOf({ set = [] }: DaemonOptions): string {
  return (
    set.findLast((entry) => entry.startsWith('main.base='))?.slice('main.base='.length) ??
    '/cgi-bin/panel'
  );
}

async function waitForEvent(
  log: readonly string[],
  event: string,
): Promise<Record<string, unknown>> {
  return poll(async () => {
    const entries = log
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    return entries.find((entry) => entry.event === event);
  }, `the daemon's log has no event "${event}"`);
}

/**
 * Asks until there is an answer.
 *
 * @param isLikely whether there is one by all signs, where there are signs
 */
async function poll<Answer>(
  ask: () => Promise<Answer | undefined>,
  complaint: string,
  {
    limitMs = FINISHED_LIMIT_MS,
    isLikely,
  }: { limitMs?: number | undefined; isLikely?: () => boolean } = {},
): Promise<Answer> {
  const since = performance.now();
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    const passed = performance.now() - since;
    if (passed > limitMs) throw new Error(`${complaint} after ${limitMs} ms`);
    if (isLikely === undefined || isLikely()) {
      await delay(Math.min(POLL_MS.most, Math.max(POLL_MS.least, passed * POLL_MS.share)));
      continue;
    }
    const next = Math.min(since + limitMs, performance.now() + LOG_MS.ask);
    while (!isLikely() && performance.now() < next) await delay(LOG_MS.look);
  }
}

type Client = Pick<
  TestDaemon,
  'token' | 'get' | 'post' | 'submit' | 'status' | 'finished' | 'logOf'
>;

interface ClientOptions {
  url: () => string;
  base: string;
  /** What another run is another one of: in a run the token stays, and is asked for once. */
  run?: () => object;
  /** By what the daemon has logged. */
  hasEnded?: (taskId: string) => boolean;
}

/** Asks a daemon of any kind, wherever it listens. */
export function createClient({ url, base, run, hasEnded }: ClientOptions): Client {
  const tokens = new WeakMap<object, string>();
  const locate = (path: string): string =>
    `${url()}${path.startsWith('/') ? path : join(base, path)}`;
  const get: Client['get'] = (path, headers = {}) => fetch(locate(path), { headers });
  const token = async (): Promise<string> =>
    ((await (await get('admin/store/token')).json()) as { token: string }).token;
  const knownToken = async (): Promise<string> => {
    const current = run?.();
    const known = current && tokens.get(current);
    if (known !== undefined) return known;
    const asked = await token();
    if (current !== undefined) tokens.set(current, asked);
    return asked;
  };
  const post: Client['post'] = async (path, params = {}) => {
    const query = new URLSearchParams({
      ...params,
      ...('token' in params ? {} : { token: await knownToken() }),
    });
    return fetch(`${locate(path)}?${query.toString()}`, { method: 'POST' });
  };
  const status: Client['status'] = async (taskId) =>
    (await (await get(`admin/system/tasks/status?task_id=${taskId}`)).json()) as TaskStatus;
  return {
    token,
    get,
    post,
    status,
    submit: async (operation, params) => {
      const answer = await post(`admin/store/${operation}`, params);
      const body = (await answer.json()) as { code: number; task_id?: string };
      if (answer.status !== 200 || body.code !== 0 || body.task_id === undefined) {
        throw new Error(`cannot ${operation}: ${answer.status} ${JSON.stringify(body)}`);
      }
      return body.task_id;
    },
    finished: (taskId, limitMs) =>
      poll(
        async () => {
          const current = await status(taskId);
          return current.running ? undefined : current;
        },
        `task ${taskId} has not ended`,
        { limitMs, ...(hasEnded && { isLikely: () => hasEnded(taskId) }) },
      ),
    logOf: async (taskId) => (await get(`admin/system/tasks/log?task_id=${taskId}`)).text(),
  };
}
