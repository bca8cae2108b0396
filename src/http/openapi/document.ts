import type { FeatureDocumentation, OperationDocumentation } from './documentation.ts';
import type { GenericSchema } from 'valibot';
import { goodAnswers, REFUSAL_SCHEMAS, responsesOf } from './responses.ts';
import { createSchemaConverter, type JsonObject, type SchemaConverter } from './schemas.ts';
import type { Route } from '../route.ts';

/**
 * The OpenAPI 3.1 document, made from the tables of routes, the very schemas that check the
 * requests, and what the features say of their answers. The same whatever `main.auth` is.
 */
export async function openApiDocument(documented: DocumentedInterface): Promise<object> {
  const { base, version, routes, operations, documentation } = documented;
  const converter = await createSchemaConverter();
  const paths: Record<string, JsonObject> = {};
  for (const route of routes) {
    const path = route.path.startsWith('/') ? route.path : `${base}/${route.path}`;
    const name = `${route.method} ${route.path}`;
    const feature = documentation.find((each) => name in each.operations);
    paths[path] = {
      ...paths[path],
      [route.method.toLowerCase()]: operationOf(route, feature?.operations[name], {
        tag: feature?.tag,
        converter,
      }),
    };
  }
  for (const route of operations) {
    paths[route.path] = {
      ...paths[route.path],
      [route.method.toLowerCase()]: passedOn(route, converter),
    };
  }
  const tags = documentation.map(({ tag: name, description }) => ({ name, description }));
  return {
    openapi: '3.1.0',
    info: {
      title: 'depotd',
      version,
      description: 'Packages, tasks, disks and container data of a router or NAS.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'this device' }],
    tags: operations.length > 0 ? [...tags, FORGE_TAG] : tags,
    paths,
    components: {
      schemas: { ...converter.components, ...REFUSAL_SCHEMAS },
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

interface DocumentedInterface {
  base: string;
  version: string;
  routes: readonly Route[];
  operations: readonly PassedOperation[];
  documentation: readonly FeatureDocumentation[];
}

/** An operation that is passed to the code forge. */
export interface PassedOperation {
  method: string;
  operationId: string;
  /** From the root of this host, with its parameters in braces. */
  path: string;
  /** The names in braces. */
  parameters: string[];
  summary: string;
  query: Readonly<Record<string, GenericSchema>>;
  /** Of a JSON body. */
  body?: GenericSchema;
  /** The good answers by status. */
  answers: OperationDocumentation['answers'];
}

const FORGE_TAG = {
  name: 'Forge',
  description: 'Passed to the code forge as it is, also below the CGI root.',
};

/** Either of the cookies stands for a session; which there are depends on `main.auth`. */
const SECURITY_SCHEMES = {
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'depotd_session',
    description:
      'from POST admin/login, together with the key; with main.auth none no session is needed',
  },
  key: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Depotd-Key',
    description: 'the second half of the session; the cookie alone decides nothing',
  },
  panel: {
    type: 'apiKey',
    in: 'cookie',
    name: 'sysauth_http',
    description: "LuCI's own session, below its path; over https the cookie is sysauth_https",
  },
  forgeToken: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: "the forge's own; without it the device's token may stand in",
  },
};
const SESSION_NEEDED = [{ session: [], key: [] }, { panel: [] }];

function operationOf(
  route: Route,
  documentation: OperationDocumentation | undefined,
  { tag, converter }: { tag: string | undefined; converter: SchemaConverter },
): JsonObject {
  const schemas = Object.entries(route.params).map(([name, schema]) => ({
    name,
    in: 'query',
    required: schema.type !== 'optional' && schema.type !== 'undefinedable',
    schema: { ...converter.convert(schema), ...documentation?.parameters?.[name] },
  }));
  const isInBody = ({ name }: { name: string }): boolean => route.bodyOnly.includes(name);
  return {
    ...(documentation === undefined ? {} : { operationId: documentation.operationId }),
    ...(tag === undefined ? {} : { tags: [tag] }),
    summary: route.summary,
    security: route.access === 'session' ? SESSION_NEEDED : [],
    parameters: [...tokenOf(route), ...schemas.filter((schema) => !isInBody(schema))],
    ...(route.bodyOnly.length > 0 ? { requestBody: formBody(schemas.filter(isInBody)) } : {}),
    ...(route.acceptsUpload ? { requestBody: UPLOAD_BODY } : {}),
    responses: responsesOf(route, documentation, converter),
  };
}

function tokenOf({ needsToken, acceptsUpload }: Route): object[] {
  if (!needsToken && !acceptsUpload) return [];
  const description = 'from GET admin/store/token';
  return [
    { name: 'token', in: 'query', required: needsToken, description, schema: { type: 'string' } },
  ];
}

/**
 * Its bodies are the forge's own; whatever the daemon answers itself has the header that says so.
 */
function passedOn(operation: PassedOperation, converter: SchemaConverter): JsonObject {
  const { operationId, method, parameters, summary, query, body, answers } = operation;
  return {
    operationId,
    tags: [FORGE_TAG.name],
    summary,
    security: [{ forgeToken: [] }, {}],
    parameters: [
      ...parameters.map((name) => ({
        name,
        in: 'path',
        required: true,
        schema: { type: 'string' },
      })),
      ...Object.entries(query).map(([name, schema]) => ({
        name,
        in: 'query',
        required: false,
        schema: converter.convert(schema),
      })),
    ],
    ...(body === undefined ? {} : { requestBody: forgeBody(method, converter.convert(body)) }),
    responses: {
      ...goodAnswers(answers, converter),
      default: {
        description: "the forge's refusal; with the header X-Depotd-Error this device's own",
      },
    },
  };
}

/** A deletion may come without one. */
function forgeBody(method: string, schema: JsonObject): object {
  return { required: method !== 'DELETE', content: { 'application/json': { schema } } };
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
      schema: {
        type: 'object',
        properties: { file: { type: 'string', format: 'binary' } },
        required: ['file'],
      },
    },
  },
};
