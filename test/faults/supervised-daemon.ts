import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { runCommand } from '../device/command.ts';
import { launchDaemon, type LaunchedDaemon } from '../device/daemon-process.ts';
import type { TaskStatus } from '../device/daemon.ts';
import { ask, type Answer, type Question } from '../support/ask.ts';
import type { Bench } from './bench.ts';
import { isAlive } from './process-scan.ts';

/** What the preloaded module does at the n-th change that the daemon makes, counted from now. */
export interface ArmedFault {
  id: string;
  /** 0: at once. */
  at: number;
  fault: string;
  /** How long it lasts; 0: until the next one is armed. */
  forMs: number;
  clockOffsetMs: number;
}

/** What the preloaded module or a program reported. */
export interface FaultEvent {
  armed?: string;
  fired?: string;
  fault?: string;
  point?: string;
  program?: string;
  count?: number;
}

/** A daemon that is started again when it ends, as procd does it, and watched from outside. */
export interface SupervisedDaemon {
  readonly arm: (fault: ArmedFault) => Promise<void>;
  /** Starts it if it has ended. */
  readonly ensure: () => Promise<void>;
  readonly isUp: () => boolean;
  readonly pid: () => number;
  readonly events: () => Promise<FaultEvent[]>;
  /** One request; undefined if nobody answers. Answers that are never right become findings. */
  readonly ask: (path: string, question?: Question) => Promise<Answer | undefined>;
  /** Begins an operation. @returns its task, or the answer that refused it */
  readonly submit: (
    operation: string,
    form?: Record<string, string>,
  ) => Promise<{ id: string } | { refused: string }>;
  readonly upload: (fileName: string, content: Buffer) => ReturnType<SupervisedDaemon['submit']>;
  readonly status: (id: string) => Promise<TaskStatus | undefined>;
  readonly all: () => Promise<Record<string, TaskStatus> | undefined>;
  readonly findings: string[];
  readonly starts: () => number;
  readonly log: string[];
  readonly close: () => Promise<void>;
}

const PRELOAD = join(import.meta.dirname, 'preload.mjs');
const BASE = '/cgi-bin/panel';
const START_LIMIT_MS = 20_000;
/** What is promised: not now (503), no room (507), the engine or the lock in use. */
const PROMISED = [503, 507];

export function createSupervisedDaemon(bench: Bench, set: readonly string[]): SupervisedDaemon {
  const findings: string[] = [];
  const log: string[] = [];
  const control = join(bench.folder, 'control.json');
  let daemon: LaunchedDaemon | undefined;
  let starts = 0;
  const isUp = (): boolean => daemon !== undefined && isAlive(daemon.pid);
  const env = { NODE_OPTIONS: `--import=${PRELOAD}` };
  const start = async (): Promise<void> => {
    starts += 1;
    daemon = await withLimit(launchDaemon(bench.device, { set, env }, log), START_LIMIT_MS);
  };
  const events = async (): Promise<FaultEvent[]> =>
    (await bench.lines('events')).flatMap((line) => {
      try {
        return [JSON.parse(line) as FaultEvent];
      } catch {
        return [];
      }
    });
  const request: SupervisedDaemon['ask'] = async (path, question) => {
    if (daemon === undefined) return undefined;
    const answer = await ask(`${daemon.url}${path}`, question).catch(() => undefined);
    const problem = answer === undefined ? undefined : problemOf(path, answer);
    if (problem !== undefined) findings.push(problem);
    return answer;
  };
  const json = async (path: string, question?: Question): Promise<unknown> => {
    const answer = await request(`${BASE}/admin/${path}`, question);
    return answer?.status === 200 ? parse(answer.text) : undefined;
  };
  return {
    findings,
    log,
    isUp,
    pid: () => daemon?.pid ?? 0,
    starts: () => starts,
    arm: async (fault) => {
      await writeFile(control, JSON.stringify({ ...fault, filler: bench.filler }));
      if (!isUp()) return;
      process.kill(daemon?.pid ?? 0, 'SIGUSR2');
      await waitUntil(
        async () => !isUp() || (await events()).some(({ armed }) => armed === fault.id),
        5000,
      );
    },
    ensure: async () => {
      for (let tries = 0; !isUp() && tries < 4; tries += 1) {
        await start().catch(async (error: unknown) => {
          // A fault may hit it before it listens; without one it has to start.
          if (tries === 3) findings.push(`the daemon does not start: ${String(error)}`);
          const { fault = 'none' } = parse(await readFile(control, 'utf8')) as { fault?: string };
          if (fault !== 'none') await writeFile(control, JSON.stringify(nothing('start')));
        });
      }
    },
    events,
    ask: request,
    submit: async (operation, form = {}) => {
      const { token = '' } = ((await json('store/token')) ?? {}) as { token?: string };
      const answer = await request(`${BASE}/admin/store/${operation}`, {
        method: 'POST',
        form: { ...form, token },
      });
      return taskIn(answer);
    },
    upload: async (fileName, content) => {
      const form = new FormData();
      form.append('file', new Blob([new Uint8Array(content)]), fileName);
      const path = `${BASE}/admin/store/upload`;
      const answer = await fetch(`${daemon?.url ?? ''}${path}`, { method: 'POST', body: form })
        .then(async (response) => ({ status: response.status, text: await response.text() }))
        .catch(() => undefined);
      const problem = answer === undefined ? undefined : problemOf(path, answer);
      if (problem !== undefined) findings.push(problem);
      return taskIn(answer);
    },
    status: async (id) => (await json(`system/tasks/status?task_id=${id}`)) as TaskStatus,
    all: async () => (await json('system/tasks/status')) as Record<string, TaskStatus>,
    close: async () => {
      if (daemon !== undefined && isUp()) {
        await runCommand(['prlimit', '--pid', String(daemon.pid), '--nofile=1024:']);
        await daemon.kill('SIGTERM');
      }
    },
  };
}

export function nothing(id: string): ArmedFault {
  return { id, at: 0, fault: 'none', forMs: 0, clockOffsetMs: 0 };
}

function taskIn(
  answer: Pick<Answer, 'status' | 'text'> | undefined,
): { id: string } | { refused: string } {
  const body = (answer === undefined ? {} : (parse(answer.text) ?? {})) as {
    code?: number;
    task_id?: string;
  };
  return body.task_id !== undefined && body.code === 0
    ? { id: body.task_id }
    : { refused: `${answer?.status ?? 'no answer'} ${answer?.text ?? ''}` };
}

/** Every refusal is JSON that names itself; a failure of the daemon's own is none that it promised. */
function problemOf(
  path: string,
  { status, text }: Pick<Answer, 'status' | 'text'>,
): string | undefined {
  if (status < 400) return undefined;
  const body = parse(text) as { code?: number; msg?: string; status?: string } | undefined;
  if (body === undefined) return `${path} answers ${status} without JSON: ${text.slice(0, 200)}`;
  return status >= 500 && !PROMISED.includes(status)
    ? `${path} answers ${status}: ${body.msg ?? text}`
    : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export async function waitUntil(
  isSo: () => Promise<boolean> | boolean,
  limitMs: number,
): Promise<boolean> {
  const deadline = performance.now() + limitMs;
  while (!(await isSo())) {
    if (performance.now() > deadline) return false;
    await delay(15);
  }
  return true;
}

async function withLimit<Value>(work: Promise<Value>, limitMs: number): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not within ${limitMs} ms`)), limitMs);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
