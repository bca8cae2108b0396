import type {
  FeatureDocumentation,
  OperationDocumentation,
  PassedInterface,
} from './documentation.ts';
import { asClientsHaveIt, parameterText } from './parameters.ts';
import { refusalSchemas, responsesOf } from './responses.ts';
import { createSchemaConverter, type JsonObject, type SchemaConverter } from './schemas.ts';
import type { Route } from '../route.ts';

/**
 * OpenAPI 3.1, from the tables of routes, the very schemas that check the requests, and what the
 * features say of their answers. Of `main.auth` it says only if nobody needs a session. It is for
 * JSON, which leaves out what is undefined.
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
        tag: feature?.tag,
        converter,
        isOpen,
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
  const { summary, method, acceptsUpload } = route;
  const asked = parametersOf(route, documentation, converter);
  const isForm = method === 'POST' && !acceptsUpload;
  return {
    operationId: documentation?.operationId,
    tags: tag && [tag],
    summary,
    deprecated: summary.endsWith('(deprecated)') || undefined,
    description: isForm ? IN_FORM : undefined,
    security: securityOf(route, isOpen),
    parameters: [
      ...(isForm ? [] : asked.map((each) => ({ in: 'query', ...each }))),
      ...(asked.some(({ name }) => name === 'token') ? [TOKEN_HEADER] : []),
    ],
    requestBody: bodyOf(route, asked, documentation?.needsEither),
    responses: responsesOf(route, documentation, converter),
  };
}

const IN_FORM =
  'What the form has may stand in the address as well, but for passwords and sessions.';

/** The header for clients that write no token into an address, nor into a form. */
const TOKEN_HEADER = {
  name: 'X-CSRF-Token',
  in: 'header',
  required: false,
  description: 'the token, in place of the parameter',
  schema: { type: 'string' },
};

function parametersOf(
  { params, needsToken, acceptsUpload }: Route,
  documentation: OperationDocumentation | undefined,
  converter: SchemaConverter,
) {
  const asked = (name: string, required: boolean, schema: JsonObject) => {
    const text = parameterText(name, documentation?.operationId);
    const { description, example } = text ?? {};
    return { name, required, description, example, schema: asClientsHaveIt(schema, text) };
  };
  const others = Object.entries(params).map(([name, schema]) =>
    asked(name, schema.type !== 'optional' && schema.type !== 'undefinedable', {
      ...converter.convert(schema),
      ...documentation?.parameters?.[name],
    }),
  );
  const token = asked('token', false, { type: 'string' });
  return [...(needsToken || acceptsUpload ? [token] : []), ...others];
}

/** An empty requirement is met by anybody (OpenAPI 3.1, "Security Requirement Object"). */
function securityOf({ access }: Route, isOpen: boolean): object[] {
  if (access !== 'session') return [];
  return isOpen ? [{}, ...SESSION_NEEDED] : SESSION_NEEDED;
}

/** @param either of which a request needs one; OpenAPI has words for that in a body alone */
function bodyOf(
  { method, acceptsUpload }: Route,
  fields: ReturnType<typeof parametersOf>,
  either: readonly string[] = [],
): object | undefined {
  if (acceptsUpload) return UPLOAD_BODY;
  if (method === 'GET' || fields.length === 0) return undefined;
  const properties = Object.fromEntries(
    fields.map(({ name, description, example, schema }) => [
      name,
      { ...schema, description, examples: example === undefined ? undefined : [example] },
    ]),
  );
  const required = fields.filter((field) => field.required).map(({ name }) => name);
  const schema = {
    type: 'object',
    properties,
    required: required.length > 0 ? required : undefined,
    anyOf: either.length > 0 ? either.map((name) => ({ required: [name] })) : undefined,
    // A parameter such as `_t` keeps caches from answering.
    patternProperties: { '^_': {} },
    additionalProperties: false,
  };
  return {
    required: required.length + either.length > 0,
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
        additionalProperties: false,
      },
    },
  },
};
