import type { Route } from './route.ts';

/**
 * The OpenAPI 3.1 document, made from the tables of routes and the very schemas that check the
 * requests. The converter is loaded with the first request for the document.
 */
export async function openApiDocument({
  base,
  version,
  routes,
  operations,
}: DocumentedInterface): Promise<object> {
  const { toJsonSchema } = await import('@valibot/to-json-schema');
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const path = route.path.startsWith('/') ? route.path : `${base}/${route.path}`;
    const schemas = Object.entries(route.params).map(([name, schema]) => {
      const converted = toJsonSchema(schema, { errorMode: 'ignore' });
      delete converted.$schema;
      const required = schema.type !== 'optional' && schema.type !== 'undefinedable';
      return { name, in: 'query', required, schema: converted };
    });
    const isInBody = ({ name }: { name: string }): boolean => route.bodyOnly.includes(name);
    const token =
      route.needsToken || route.acceptsUpload
        ? [{ name: 'token', in: 'query', required: route.needsToken, schema: { type: 'string' } }]
        : [];
    paths[path] = {
      ...paths[path],
      [route.method.toLowerCase()]: {
        summary: route.summary,
        parameters: [...token, ...schemas.filter((schema) => !isInBody(schema))],
        ...(route.bodyOnly.length > 0 ? { requestBody: formBody(schemas.filter(isInBody)) } : {}),
        ...(route.acceptsUpload ? { requestBody: UPLOAD_BODY } : {}),
        responses: responsesOf(route),
      },
    };
  }
  for (const route of operations) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: passedOn(route) };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'depotd', version },
    paths,
    components: { schemas: SCHEMAS },
  };
}

interface DocumentedInterface {
  base: string;
  version: string;
  routes: readonly Route[];
  operations: readonly PassedOperation[];
}

/** An operation that is passed to the code forge. */
export interface PassedOperation {
  method: string;
  /** From the root of this host, with its parameters in braces. */
  path: string;
  /** The names in braces. */
  parameters: string[];
}

/**
 * Its bodies are the forge's own; whatever the daemon answers itself has the header that says so.
 */
function passedOn({ parameters }: PassedOperation): object {
  return {
    summary: 'Passed to the code forge as it is, also below the CGI root',
    parameters: parameters.map((name) => ({
      name,
      in: 'path',
      required: true,
      schema: { type: 'string' },
    })),
    responses: {
      default: {
        description: "the forge's answer; with the header X-Depotd-Error this device's own refusal",
      },
    },
  };
}

function responsesOf({ method, isTask, access, needsToken, acceptsUpload }: Route): object {
  const refusal = { $ref: `#/components/schemas/${isTask ? 'TaskRefusal' : 'Refusal'}` };
  const refused = (description: string): object => ({
    description,
    content: { 'application/json': { schema: refusal } },
  });
  const result = {
    description: 'accepted (code 0) or refused by the queue (code 1)',
    content: { 'application/json': { schema: { $ref: '#/components/schemas/TaskResult' } } },
  };
  return {
    ...(isTask
      ? { '200': result }
      : { '2XX': { description: 'the answer; 204 and 205 have no body' } }),
    ...(method === 'GET'
      ? {
          '3XX': {
            description: '304 where If-None-Match names the newest answer; 302 leads to the page',
          },
        }
      : {}),
    '400': refused('a parameter is missing or bad; the message names it'),
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
    '421': refused('a Host that is not this device'),
    default: refused('any other refusal: the status says what kind, the message why'),
  };
}

function formBody(fields: readonly { name: string; required: boolean; schema: object }[]): object {
  const properties = Object.fromEntries(fields.map(({ name, schema }) => [name, schema]));
  const required = fields.filter((field) => field.required).map(({ name }) => name);
  const schema = { type: 'object', properties, ...(required.length > 0 ? { required } : {}) };
  return {
    required: required.length > 0,
    content: { 'application/x-www-form-urlencoded': { schema } },
  };
}

const UPLOAD_BODY = {
  required: true,
  content: {
    'multipart/form-data': {
      schema: { type: 'object', properties: { file: { type: 'string', format: 'binary' } } },
    },
  },
};

const refusalFields = { code: { type: 'integer' }, msg: { type: 'string' } };
const taskFields = {
  code: { type: 'integer' },
  stdout: { type: 'string' },
  stderr: { type: 'string' },
};

const SCHEMAS = {
  TaskResult: {
    type: 'object',
    properties: { ...taskFields, task_id: { type: 'string' } },
    required: ['code', 'stdout', 'stderr'],
  },
  Refusal: { type: 'object', properties: refusalFields, required: ['code', 'msg'] },
  TaskRefusal: {
    type: 'object',
    properties: { ...refusalFields, ...taskFields },
    required: ['code', 'msg', 'stdout', 'stderr'],
  },
};
