import * as v from 'valibot';
import { parseJson } from '../../../device/durable-file.ts';
import { DepotError } from '../../../errors.ts';
import type { Answer, Call, Connection } from './ddi-connection.ts';
import { confirmationBody, feedbackBody, type Feedback } from './feedback.ts';
import { devicePath, pathOfLink, type Address } from './links.ts';
import {
  cancelSchema,
  confirmationSchema,
  deploymentSchema,
  pollSchema,
  type Deployment,
  type Poll,
} from './ddi-schemas.ts';

export type DdiClient = ReturnType<typeof createDdiClient>;

/** An action as the server offers it; `history`: what the server was told of it. */
export interface OfferedAction {
  id: string;
  deployment: Deployment;
  history?: readonly string[];
}

/**
 * What became of something that was sent. `ended`: the action is over for the server; `unknown`:
 * it has none of that id; `quota`: it takes no more of it, ever; `refused`: it cannot read it;
 * `later`: to be sent again.
 */
export type Reception = 'accepted' | 'ended' | 'unknown' | 'quota' | 'refused' | 'later';

const MOST_POLL_BYTES = 64 * 1024;
const MOST_DEPLOYMENT_BYTES = 1024 ** 2;

/** The device's side of hawkBit's Direct Device Integration API (docs/reference/ddi.md). */
export function createDdiClient(address: Address, connection: Connection) {
  const base = devicePath(address);
  const read = async <Schema extends v.GenericSchema>(
    path: string,
    schema: Schema,
  ): Promise<v.InferOutput<Schema>> => {
    const call: Call = { method: 'GET', path };
    return parse(call, schema, await connection.ask(call, MOST_DEPLOYMENT_BYTES));
  };
  const send = async (method: 'POST' | 'PUT', path: string, body: object): Promise<Reception> =>
    receptionOf(await connection.ask({ method, path: `${base}/${path}`, body }, MOST_POLL_BYTES));

  return {
    /** @param etag of the last answer @returns `unchanged` if it is still that one */
    poll: async (
      etag: string | undefined,
    ): Promise<{ poll: Poll; etag: string | undefined } | 'unchanged'> => {
      const headers: Record<string, string> = etag === undefined ? {} : { 'if-none-match': etag };
      const call: Call = { method: 'GET', path: base, headers };
      const answer = await connection.ask(call, MOST_POLL_BYTES);
      if (answer.status === 304 && etag !== undefined) return 'unchanged';
      return { poll: parse(call, pollSchema, answer), etag: answer.etag };
    },
    deployment: async (link: string): Promise<OfferedAction> => {
      const path = pathOfLink(link, address);
      const asked = `${path}${path.includes('?') ? '&' : '?'}actionHistory=100`;
      const { id, deployment, actionHistory } = await read(asked, deploymentSchema);
      return { id, deployment, history: actionHistory?.messages ?? [] };
    },
    confirmation: async (link: string): Promise<OfferedAction> => {
      const { id, confirmation } = await read(pathOfLink(link, address), confirmationSchema);
      return { id, deployment: confirmation };
    },
    cancel: async (link: string) =>
      (await read(pathOfLink(link, address), cancelSchema)).cancelAction,
    download: (link: string, from: number, signal: AbortSignal) =>
      connection.open(pathOfLink(link, address), from, signal),
    report: (id: string, feedback: Feedback) =>
      send('POST', `deploymentBase/${id}/feedback`, feedbackBody(id, feedback)),
    answerCancel: (id: string, feedback: Feedback) =>
      send('POST', `cancelAction/${id}/feedback`, feedbackBody(id, feedback)),
    confirm: (id: string, isConfirmed: boolean, details: readonly string[]) =>
      send('POST', `confirmationBase/${id}/feedback`, confirmationBody(isConfirmed, details)),
    configure: (data: Readonly<Record<string, string>>, mode: 'merge' | 'replace' = 'replace') =>
      send('PUT', 'configData', { mode, data }),
    close: connection.close,
  };
}

/** @throws DepotError upstream_unreachable that names the status, bad_request the field */
function parse<Schema extends v.GenericSchema>(
  { method, path }: Call,
  schema: Schema,
  { status, body }: Answer,
): v.InferOutput<Schema> {
  const what = `cannot ${method} ${path.split('?')[0] ?? ''}`;
  if (status !== 200) {
    throw new DepotError('upstream_unreachable', `${what}: the fleet server answered ${status}`);
  }
  const value = parseJson(body.toString('utf8'));
  // A list would pass for an object without members.
  const object = Array.isArray(value) ? undefined : value;
  const result = v.safeParse(schema, object, { abortEarly: true });
  if (result.success) return result.output;
  const [issue] = result.issues;
  const field = v.getDotPath(issue) ?? 'the answer';
  throw new DepotError('bad_request', `${what}: ${field}: ${issue.message.slice(0, 200)}`);
}

/** hawkBit's 429 with a body is a quota, for good; without one it is the filter against floods. */
function receptionOf({ status, body }: Answer): Reception {
  if (status >= 200 && status < 300) return 'accepted';
  if (status === 410 || status === 405) return 'ended';
  if (status === 404) return 'unknown';
  if (status === 400) return 'refused';
  if (status === 429 && body.length > 0) return 'quota';
  return 'later';
}
