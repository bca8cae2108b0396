import { ETAG, type AnswerDocumentation, type OperationDocumentation } from './documentation.ts';
import type { JsonObject, SchemaConverter } from './schemas.ts';
import type { Route } from '../route.ts';

/** The answers of an operation by status: the good ones that are documented, and refusals. */
export function responsesOf(
  route: Route,
  documentation: OperationDocumentation | undefined,
  converter: SchemaConverter,
): JsonObject {
  const answers = Object.entries(documentation?.answers ?? {});
  const isKept = answers.some(([, { headers }]) => headers?.ETag);
  return {
    ...refusalsOf(route, documentation),
    ...Object.fromEntries(answers.map(([status, answer]) => [status, answerOf(answer, converter)])),
    '2XX':
      answers.length === 0 ? { description: 'the answer; 204 and 205 have no body' } : undefined,
    '304': isKept
      ? { description: 'If-None-Match names the newest answer', headers: of(ETAG) }
      : undefined,
  };
}

/** Headers by name, as OpenAPI has them. */
function of(headers: Readonly<Record<string, string>> | undefined): JsonObject | undefined {
  if (headers === undefined) return undefined;
  return Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [
      name,
      { description, schema: { type: 'string' } },
    ]),
  );
}

function answerOf(
  { description, schema, example, contentType, headers }: AnswerDocumentation,
  { convert }: SchemaConverter,
): JsonObject {
  const described = { description, headers: of(headers) };
  if (schema !== undefined) {
    const media = { schema: convert(schema), example };
    return { ...described, content: { 'application/json': media } };
  }
  if (contentType === undefined) return described;
  const content = Object.fromEntries(
    [contentType].flat().map((type) => [type, { schema: bodySchema(type), example }]),
  );
  return { ...described, content };
}

function bodySchema(contentType: string): JsonObject {
  if (contentType === 'text/event-stream') return EVENT;
  return contentType === 'application/json' || /^text/.test(contentType)
    ? { type: contentType === 'application/json' ? 'object' : 'string' }
    : { type: 'string', format: 'binary' };
}

/** The fields of each event; to a client that knows no events the stream is a text. */
const EVENT: JsonObject = {
  properties: {
    event: { type: 'string', description: 'what kind of event it is' },
    id: { type: 'string', description: 'for Last-Event-ID' },
    data: { type: 'string', description: 'JSON' },
  },
};

const PLAIN: JsonObject = { $ref: '#/components/schemas/Refusal' };
const OF_A_TASK: JsonObject = { $ref: '#/components/schemas/TaskRefusal' };

function refusalsOf(
  { method, isTask, access, needsToken, acceptsUpload }: Route,
  { refusals: own = {}, isRefusedByPage = false }: Partial<OperationDocumentation> = {},
): JsonObject {
  const page = isRefusedByPage ? { 'text/html': { schema: bodySchema('text/html') } } : {};
  const json = (schema: JsonObject): JsonObject => ({
    'application/json': { schema },
  });
  const refused = (description: string, headers?: Record<string, string>): JsonObject => ({
    description,
    headers: of(headers),
    content: { ...json(isTask ? OF_A_TASK : PLAIN), ...page },
  });
  // Refused before it is known which operation is asked for: without the fields of a task.
  const unread = (description: string): object => ({ description, content: json(PLAIN) });
  const either = (description: string, headers?: Record<string, string>): JsonObject => ({
    ...refused(description, headers),
    content: { ...json(isTask ? { anyOf: [OF_A_TASK, PLAIN] } : PLAIN), ...page },
  });
  const inSession = access === 'session' || needsToken;
  const ofChange = (description: string): JsonObject | undefined =>
    method === 'POST' ? refused(description) : undefined;
  return {
    '400': either('a parameter is missing or bad, and the message names it; or it is no HTTP'),
    '403': inSession ? refused('no session, a wrong token, or a foreign page', LOG_IN) : undefined,
    '408': unread('the request came too slowly'),
    '413': ofChange(
      acceptsUpload
        ? 'the file is larger than main.upload_max_mb'
        : 'the form is larger than 64 KiB',
    ),
    '415': ofChange(`the body is no ${acceptsUpload ? 'multipart/form-data' : 'form'}, or packed`),
    '507': ofChange('the disk is full'),
    '421': unread('a Host that is not this device'),
    '431': unread('the request line and the headers have more than 16 KiB, or 200 fields'),
    '500': refused('what the daemon or a program that it runs cannot do; the log says more'),
    '503': either(
      'what it takes is out of reach for now: the daemon stops, or the package manager or a ' +
        'program cannot be used',
      { 'Retry-After': 'seconds; if the queue is full' },
    ),
    ...Object.fromEntries(Object.entries(own).map(([status, why]) => [status, refused(why)])),
  };
}

const LOG_IN = { 'X-LuCI-Login-Required': '`yes` if nobody is logged in' };

/** Named by the refusals. @param errorCodes that a task may have failed with, too */
export function refusalSchemas(errorCodes: readonly string[]): JsonObject {
  const fields = {
    code: { type: 'integer', description: 'the status' },
    msg: { type: 'string', minLength: 1, description: 'why, in one sentence' },
    error_code: {
      type: 'string',
      enum: errorCodes,
      description: 'the cause, if a task that failed for the same cause would have one',
    },
    remedy: { type: 'string', description: 'what the owner can do about it, in one sentence' },
  };
  const texts = { stdout: { type: 'string' }, stderr: { type: 'string' } };
  return {
    Refusal: {
      type: 'object',
      properties: fields,
      required: ['code', 'msg'],
      examples: [EXAMPLE],
    },
    TaskRefusal: {
      type: 'object',
      properties: { ...fields, ...texts },
      required: ['code', 'msg', 'stdout', 'stderr'],
      examples: [{ ...EXAMPLE, stdout: '', stderr: EXAMPLE.msg }],
    },
  };
}

const EXAMPLE = { code: 400, msg: 'cannot use the parameter package: it is missing' };
