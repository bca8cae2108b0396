import { DepotError, isCausedBy, type ErrorCode } from '../errors.ts';
import { etagOf, withTag } from './etag.ts';

const JSON_HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
};

export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Response {
  const init = { status, headers: { ...JSON_HEADERS, ...headers } };
  return withBody(JSON.stringify(body), init);
}

type Body = string | Uint8Array<ArrayBuffer>;

/** Kept for who packs it: `text()` would load Node's HTTP client (`runtime/light-fetch.ts`). */
const bodies = new WeakMap<Response, Body>();

function withBody(body: Body, init: ResponseInit): Response {
  const answer = new Response(body, init);
  bodies.set(answer, body);
  return answer;
}

/** What a JSON answer says; undefined if it was not made here. */
export function bodyOf(answer: Response): Body | undefined {
  return bodies.get(answer);
}

/** A task result: 0 for a job that was accepted. */
export interface TaskResult {
  code: number;
  stdout: string;
  stderr: string;
  task_id?: string;
}

/** An answer that never changes: its bytes are shared by all who are sent it. */
export type Unchanging = ReturnType<typeof unchanging>;

export function unchanging(text: string) {
  return withTag(new TextEncoder().encode(text));
}

/** May be kept and asked for again: 304 if it is still the newest (RFC 9110, section 13.1.2). */
export function revalidated(request: Request, body: Body, etag = etagOf(body)): Response {
  const headers = { ...JSON_HEADERS, 'cache-control': 'no-cache', etag };
  const known = request.headers.get('if-none-match');
  const isKnown =
    known !== null &&
    (known.trim() === '*' ||
      known.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag));
  return isKnown
    ? new Response(null, { status: 304, headers })
    : withBody(body, { status: 200, headers });
}

/** Seconds after which a place in the queue may be free again. */
const RETRY_AFTER_S = '10';

/** What is refused with more than a status and a sentence. */
export class Refusal extends DepotError {
  readonly headers: Record<string, string>;
  /** Members beside those that every refusal has. */
  readonly members: object;

  constructor(
    code: ErrorCode,
    message: string,
    { headers = {}, members = {} }: { headers?: Record<string, string>; members?: object },
  ) {
    super(code, message);
    this.headers = headers;
    this.members = members;
  }
}

/**
 * A refusal: always JSON, never a stack trace, nor the text of an error that is not ours. It has
 * the code and the remedy that a job failed by the same cause would have.
 */
export function refusal(error: unknown, { isTask }: { isTask: boolean }): Response {
  const known = error instanceof DepotError ? error : fromUnexpected(error);
  const { status, message: msg, explanation } = known;
  const { headers, members } = known instanceof Refusal ? known : {};
  const body = {
    code: status,
    msg,
    ...(isTask ? { stdout: '', stderr: msg } : {}),
    error_code: explanation?.code,
    remedy: explanation?.remedy,
    ...members,
  };
  const wait = explanation?.code === 'queue_full' ? { 'Retry-After': RETRY_AFTER_S } : {};
  return json(body, status, { ...wait, ...headers });
}

/** What a device may lack for a while, by what system calls fail with then (errno(3)). */
const LACKS: readonly { codes: readonly string[]; code: ErrorCode; reason: string }[] = [
  { codes: ['ENOSPC', 'EDQUOT'], code: 'no_space', reason: 'the disk is full' },
  { codes: ['EROFS'], code: 'unavailable', reason: 'the disk is mounted read-only' },
  {
    codes: ['EMFILE', 'ENFILE'],
    code: 'unavailable',
    reason: 'there are no file descriptors left',
  },
  { codes: ['ENOMEM'], code: 'unavailable', reason: 'there is no memory left' },
];

/** An error that nobody expected, without its text: what the device lacks, or a fault. */
export function fromUnexpected(error: unknown): DepotError {
  const lack = LACKS.find(({ codes }) => isCausedBy(error, codes));
  return lack === undefined
    ? new DepotError('internal', 'cannot answer: an unexpected fault; the daemon log has it')
    : new DepotError(lack.code, `cannot answer: ${lack.reason}`);
}
