import type {
  FeatureDocumentation,
  OperationDocumentation,
  PassedInterface,
} from './documentation.ts';
import { refusalSchemas, responsesOf } from './responses.ts';
import { createSchemaConverter, type JsonObject, type SchemaConverter } from './schemas.ts';
import type { Route } from '../route.ts';

/**
 * The OpenAPI 3.1 document, made from the tables of routes, the very schemas that check the
 * requests, and what the features say of their answers. Of `main.auth` it says only if nobody
 * needs a session.
 */
export async function openApiDocument(documented: DocumentedInterface): Promise<object> {
  const { base, version, routes, passed, documentation, isOpen, errorCodes } = documented;
  const converter = await createSchemaConverter();
  const paths: Record<string, JsonObject> = {};
  for (const route of routes) {
    const path = route.path.startsWith('/') ? route.path : `${base}/${route.path}`;
    const name = `${route.method} ${route.path}`;
    const feature = documentation.find((each) => name in each.operations);
    paths[path] = {
      ...paths[path],
      [route.method.toLowerCase()]: operationOf(route, feature?.operations[name], {
        ...{ tag: feature?.tag, converter, isOpen },
      }),
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
    tags: [...tags, ...passed.map(({ tag }) => tag)],
    paths: { ...paths, ...joined(passed.map((each) => each.paths)) },
    components: {
      schemas: { ...converter.components, ...refusalSchemas(errorCodes) },
      securitySchemes: {
        ...SECURITY_SCHEMES,
        ...joined(passed.map((each) => each.securitySchemes)),
      },
    },
  };
}

function joined(objects: readonly JsonObject[]): JsonObject {
  return Object.fromEntries(objects.flatMap((each) => Object.entries(each)));
}

interface DocumentedInterface {
  base: string;
  version: string;
  routes: readonly Route[];
  passed: readonly PassedInterface[];
  documentation: readonly FeatureDocumentation[];
  /** Whether nobody needs a session: with main.auth none. */
  isOpen: boolean;
  /** What `error_code` may be. */
  errorCodes: readonly string[];
}

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
};
const SESSION_NEEDED = [{ session: [], key: [] }, { panel: [] }];

function operationOf(
  route: Route,
  documentation: OperationDocumentation | undefined,
  {
    tag,
    converter,
    isOpen,
  }: { tag: string | undefined; converter: SchemaConverter; isOpen: boolean },
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
    security: securityOf(route, isOpen),
    parameters: [...tokenOf(route), ...schemas.filter((schema) => !isInBody(schema))],
    ...(route.bodyOnly.length > 0 ? { requestBody: formBody(schemas.filter(isInBody)) } : {}),
    ...(route.acceptsUpload ? { requestBody: UPLOAD_BODY } : {}),
    responses: responsesOf(route, documentation, converter),
  };
}

/** An empty requirement is met by anybody (OpenAPI 3.1, "Security Requirement Object"). */
function securityOf({ access }: Route, isOpen: boolean): object[] {
  if (access !== 'session') return [];
  return isOpen ? [{}, ...SESSION_NEEDED] : SESSION_NEEDED;
}

function tokenOf({ needsToken, acceptsUpload }: Route): object[] {
  if (!needsToken && !acceptsUpload) return [];
  const description = 'from GET admin/store/token';
  return [
    { name: 'token', in: 'query', required: needsToken, description, schema: { type: 'string' } },
  ];
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
