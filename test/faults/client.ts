import type { TaskStatus } from '../device/daemon.ts';
import { ask, type Answer, type Question } from '../support/ask.ts';

/** Asks a daemon that may be gone at any moment, and looks at what it answers. */
export interface FaultClient {
  /** One request; undefined if nobody answers. Answers that are never right become findings. */
  readonly ask: (path: string, question?: Question) => Promise<Answer | undefined>;
  /** Begins an operation. @returns its task, or the answer that refused it */
  readonly submit: (
    operation: string,
    form?: Record<string, string>,
  ) => Promise<{ id: string } | { refused: string }>;
  readonly upload: (fileName: string, content: Buffer) => ReturnType<FaultClient['submit']>;
  readonly status: (id: string) => Promise<TaskStatus | undefined>;
  readonly all: () => Promise<Record<string, TaskStatus> | undefined>;
}

const BASE = '/cgi-bin/panel';
/** What is promised: not now (503), no room (507), the engine or the lock in use. */
const PROMISED = [503, 507];

/** @param findings gets the answers that are never right */
export function createClient(url: () => string | undefined, findings: string[]): FaultClient {
  const request: FaultClient['ask'] = async (path, question) => {
    const address = url();
    if (address === undefined) return undefined;
    const answer = await ask(`${address}${path}`, question).catch(() => undefined);
    const problem = answer === undefined ? undefined : problemOf(path, answer);
    if (problem !== undefined) findings.push(problem);
    return answer;
  };
  const json = async (path: string, question?: Question): Promise<unknown> => {
    const answer = await request(`${BASE}/admin/${path}`, question);
    return answer?.status === 200 ? parse(answer.text) : undefined;
  };
  return {
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
      const answer = await fetch(`${url() ?? ''}${path}`, { method: 'POST', body: form })
        .then(async (response) => ({ status: response.status, text: await response.text() }))
        .catch(() => undefined);
      const problem = answer === undefined ? undefined : problemOf(path, answer);
      if (problem !== undefined) findings.push(problem);
      return taskIn(answer);
    },
    status: async (id) => (await json(`system/tasks/status?task_id=${id}`)) as TaskStatus,
    all: async () => (await json('system/tasks/status')) as Record<string, TaskStatus>,
  };
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

export function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
