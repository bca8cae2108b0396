import type { AnswerDocumentation, OperationDocumentation } from './documentation.ts';
import type { JsonObject, SchemaConverter } from './schemas.ts';
import type { Route } from '../route.ts';

/** The answers of an operation by status: the good ones that are documented, and refusals. */
export function responsesOf(
  route: Route,
  documentation: OperationDocumentation | undefined,
  converter: SchemaConverter,
): JsonObject {
  const good = goodAnswers(documentation?.answers ?? {}, converter);
  return {
    ...(Object.keys(good).length > 0
      ? good
      : { '2XX': { description: 'the answer; 204 and 205 have no body' } }),
    ...(isRevalidated(route)
      ? { '304': { description: 'If-None-Match names the newest answer' } }
      : {}),
    ...refusalsOf(route, documentation),
  };
}

/** By status. */
function goodAnswers(
  answers: OperationDocumentation['answers'],
  { convert }: SchemaConverter,
): JsonObject {
  return Object.fromEntries(
    Object.entries(answers).map(([status, answer]) => [status, answerOf(answer, convert)]),
  );
}

function isRevalidated({ method, isStream }: Route): boolean {
  return method === 'GET' && !isStream;
}

function answerOf(
  { description, schema, example, contentType }: AnswerDocumentation,
  convert: SchemaConverter['convert'],
): JsonObject {
  if (schema !== undefined) {
    const media = { schema: convert(schema), ...(example === undefined ? {} : { example }) };
    return { description, content: { 'application/json': media } };
  }
  if (contentType === undefined) return { description };
  const types = [contentType].flat();
  const content = Object.fromEntries(types.map((type) => [type, { schema: bodySchema(type) }]));
  return { description, content };
}

function bodySchema(contentType: string): JsonObject {
  return contentType === 'application/octet-stream' || contentType.startsWith('image/')
    ? { type: 'string', format: 'binary' }
    : { type: 'string' };
}

const PLAIN: JsonObject = { $ref: '#/components/schemas/Refusal' };
const OF_A_TASK: JsonObject = { $ref: '#/components/schemas/TaskRefusal' };

function refusalsOf(
  { isTask, access, needsToken, acceptsUpload }: Route,
  { refusals: own = {}, isRefusedByPage = false }: Partial<OperationDocumentation> = {},
): JsonObject {
  const page = isRefusedByPage ? { 'text/html': { schema: bodySchema('text/html') } } : {};
  const refused = (description: string, schema = isTask ? OF_A_TASK : PLAIN): object => ({
    description,
    content: { 'application/json': { schema }, ...page },
  });
  // Refused before it is known which operation is asked for: without the fields of a task.
  const unread = (description: string): object => ({
    description,
    content: { 'application/json': { schema: PLAIN } },
  });
  const either = (description: string): object =>
    refused(description, isTask ? { anyOf: [OF_A_TASK, PLAIN] } : PLAIN);
  return {
    '400': either('a parameter is missing or bad, and the message names it; or it is no HTTP'),
    ...(access === 'session' || needsToken
      ? { '403': refused('no session, a wrong token, or a foreign page') }
      : {}),
    ...(acceptsUpload
      ? {
          '413': refused('the file is larger than main.upload_max_mb'),
          '415': refused('the body is no multipart/form-data'),
          '507': refused('the disk is full'),
        }
      : {}),
    ...Object.fromEntries(
      Object.entries(own).map(([status, why]) => [
        status,
        UNAVAILABLE === status ? either(why) : refused(why),
      ]),
    ),
    '408': unread('the request came too slowly'),
    '421': unread('a Host that is not this device'),
    '431': unread('the request line and the headers have more than 16 KiB'),
    default: either('any other refusal: the status says what kind, the message why'),
  };
}

/** Also while the daemon stops or changes its configuration, whatever is asked for. */
const UNAVAILABLE = '503';

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
    Refusal: { type: 'object', properties: fields, required: ['code', 'msg'] },
    TaskRefusal: {
      type: 'object',
      properties: { ...fields, ...texts },
      required: ['code', 'msg', 'stdout', 'stderr'],
    },
  };
}
