import { beforeAll, describe, expect, test } from 'vitest';

import { daemonOfFile } from '../../support/daemon-of-file.ts';
import { send, sendBytes, type RawAnswer } from '../../support/raw-request.ts';

interface Schema {
  type?: string;
  enum?: string[];
  examples?: (string | number | undefined)[];
  minimum?: number;
  maximum?: number;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
}

interface Components {
  schemas: Record<string, { required: string[] } | undefined>;
}

interface Operation {
  parameters: {
    name: string;
    in: string;
    required?: boolean;
    example?: string | number;
    schema: Schema;
  }[];
  requestBody?: {
    content: Record<
      string,
      { schema: { properties: Record<string, Schema>; required?: string[] } }
    >;
  };
  responses: Record<string, { content?: Record<string, { schema: object }> }>;
}

const daemon = daemonOfFile();
let paths: Record<string, Record<string, Operation>>;
let components: Components;

beforeAll(async () => {
  ({ paths, components } = (await (await daemon.get('openapi.json')).json()) as {
    paths: typeof paths;
    components: Components;
  });
});

const FORM = 'application/x-www-form-urlencoded';

function schemaOf(operation: string, parameter: string): Schema {
  const [method = '', path = ''] = operation.split(' ');
  const found = paths[`${daemon.base}/admin/${path}`]?.[method.toLowerCase()];
  const inBody = found?.requestBody?.content[FORM]?.schema.properties[parameter];
  const schema = inBody ?? found?.parameters.find(({ name }) => name === parameter)?.schema;
  if (schema === undefined) throw new Error(`cannot find ${parameter} of ${operation}`);
  return schema;
}

/** As JSON Schema counts: characters. */
function isPublished({ pattern, minLength = 0, maxLength = Infinity }: Schema, text: string) {
  const { length } = Array.from(text);
  const fits = pattern === undefined || new RegExp(pattern, 'u').test(text);
  return fits && length >= minLength && length <= maxLength;
}

interface Asked {
  path: string;
  method: string;
  fields: Record<string, Schema & { isRequired: boolean }>;
}

function below(root: string): Asked[] {
  return Object.entries(paths)
    .filter(([path]) => path.startsWith(root))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { parameters, requestBody }]) => {
        const { properties = {}, required = [] } = requestBody?.content[FORM]?.schema ?? {};
        const inQuery = parameters.filter((each) => each.in === 'query');
        const fields = Object.fromEntries([
          ...inQuery.map(({ name, schema, example, required: isRequired = false }) => [
            name,
            { ...schema, examples: [example], isRequired },
          ]),
          ...Object.entries(properties).map(([name, schema]) => [
            name,
            { ...schema, isRequired: required.includes(name) },
          ]),
        ]) as Asked['fields'];
        return { path, method, fields };
      }),
    );
}

/** What else has to be there is as the document's examples have it. */
async function sendEmpty({ path, method, fields }: Asked, name: string): Promise<Response> {
  const others = Object.entries(fields).filter(([, { isRequired }]) => isRequired);
  const values = new URLSearchParams({
    token: await daemon.token(),
    ...Object.fromEntries(
      others.map(([key, { examples = [], enum: [first = 'true'] = [] }]) => [
        key,
        String(examples[0] ?? first),
      ]),
    ),
    [name]: '',
  });
  return method === 'get'
    ? fetch(`${daemon.url}${path}?${values.toString()}`)
    : fetch(`${daemon.url}${path}`, { method: 'POST', body: values });
}

async function isRefused(operation: string, query: Record<string, string>): Promise<boolean> {
  const [method, path = ''] = operation.split(' ');
  const answer =
    method === 'GET'
      ? await daemon.get(`admin/${path}?${new URLSearchParams(query).toString()}`)
      : await daemon.post(`admin/${path}`, query);
  return answer.status === 400;
}

const ENTRY = 'POST store/entrysh';
const ADD = 'POST store/add_feed';
const SEARCH = 'GET store/available';
const CHECK_MOVE = 'GET store/docker_check_migrate';
const FOUR_BYTES = '\u{1f600}';
type Row = [
  operation: string,
  parameter: string,
  value: string,
  isGood: boolean,
  others?: Record<string, string>,
];

describe('what openapi.json says of a parameter is what the daemon checks', () => {
  test.each<Row>([
    [ENTRY, 'hostname', '360router', true],
    [ENTRY, 'hostname', `0.${'0'.repeat(62)}A${'0'.repeat(62)}`, false],
    [ENTRY, 'hostname', 'nas.1', false],
    [ENTRY, 'hostname', '[::1]', true],
    [ENTRY, 'package', `a${',a'.repeat(512)}`, false, { hostname: 'nas' }],
    [ENTRY, 'package', `a${',a'.repeat(511)}`, true, { hostname: 'nas' }],
    [ENTRY, 'package', FOUR_BYTES.repeat(1025), false, { hostname: 'nas' }],
    [CHECK_MOVE, 'path', `/${FOUR_BYTES.repeat(1023)}`, true],
    [CHECK_MOVE, 'path', `/${FOUR_BYTES.repeat(1024)}`, false],
    [ADD, 'name', 'a.sig', false, { url: 'http://127.0.0.1:9/' }],
    [ADD, 'name', 'sig.a.sig', false, { url: 'http://127.0.0.1:9/' }],
    ...['a.sigx', 'asig', 'a.xig', 'a.sxg', 'a.six', 'sig', 'a.ig'].map((name): Row => [
      ADD,
      'name',
      name,
      true,
      { url: `http://127.0.0.1:9/${name}` },
    ]),
    ['POST store/remove_feed', 'name', FOUR_BYTES.repeat(200), true],
    ['POST store/remove_feed', 'name', FOUR_BYTES.repeat(201), false],
    [SEARCH, 'q', FOUR_BYTES.repeat(200), true],
    [SEARCH, 'q', FOUR_BYTES.repeat(201), false],
    [ADD, 'url', 'http://127.0.0.1:65536/', false, { name: 'port' }],
    [ADD, 'url', 'http://256.0.0.1/', false, { name: 'number' }],
    [ADD, 'url', 'http://[1:2]/', false, { name: 'brackets' }],
    [ADD, 'url', 'http://[::1]:9/feed', true, { name: 'brackets' }],
    [ADD, 'url', 'http://nas.lan.:9/feed', true, { name: 'dot' }],
    [SEARCH, 'q', `a${' a'.repeat(15)}`, true],
    [SEARCH, 'q', `a${' a'.repeat(16)}`, false],
    [SEARCH, 'q', `a${'\u3000\u000ba'.repeat(15)}`, true],
    [SEARCH, 'q', `a${'\u3000a'.repeat(16)}`, false],
  ])('%s %s, row %#', async (...[operation, parameter, value, isGood, others = {}]) => {
    expect(isPublished(schemaOf(operation, parameter), value)).toBe(isGood);
    expect(await isRefused(operation, { ...others, [parameter]: value })).toBe(!isGood);
  });

  test.each<[operation: string, parameter: string, others?: Record<string, string>]>([
    ['POST store/install', 'confirm_s', { package: 'absent' }],
    ['POST store/update', 'every_h'],
    [ENTRY, 'update', { hostname: 'nas' }],
    [SEARCH, 'page'],
    [SEARCH, 'per_page'],
    ['GET system/tasks/log', 'offset', { task_id: 'absent' }],
  ])('the whole numbers of %s %s', async (operation, parameter, others = {}) => {
    const { type, minimum = NaN, maximum = NaN } = schemaOf(operation, parameter);
    const refused = (value: number): Promise<boolean> =>
      isRefused(operation, { ...others, [parameter]: value.toFixed() });

    expect(type).toBe('integer');
    for (const value of [minimum, maximum]) {
      expect([value, await refused(value)]).toEqual([value, false]);
    }
    for (const value of [minimum - 1, maximum + 1]) {
      expect([value, await refused(value)]).toEqual([value, true]);
    }
  });

  test('a parameter that is empty is refused if its schema has no room for that', async () => {
    const unlike = [];
    for (const { path, method, fields } of below(`${daemon.base}/admin/`)) {
      for (const [name, schema] of Object.entries(fields)) {
        // What a plan takes depends on its operation.
        if (name === 'token' || schema.type !== 'string' || path.endsWith('/plan')) continue;
        const answer = await sendEmpty({ path, method, fields }, name);
        const { msg = '' } = (await answer.json().catch(() => ({}))) as { msg?: string };
        const isRefusedHere = answer.status === 400 && msg.includes(`the parameter ${name}`);
        const isFit = isPublished(schema, '') && schema.enum === undefined;
        if (isRefusedHere === isFit) unlike.push(`${path} ${name}: ${answer.status} ${msg}`);
      }
    }
    expect(unlike).toEqual([]);
  });

  test('a password has no NUL', () => {
    for (const parameter of ['password', 'old', 'proof']) {
      const schema = schemaOf('POST passwd', parameter);
      expect([parameter, isPublished(schema, 'a\0b')]).toEqual([parameter, false]);
      expect([parameter, isPublished(schema, 'a\nb \u00e9')]).toEqual([parameter, true]);
    }
  });
});

test('headers that are too large are refused as every operation says', async () => {
  const answer = await daemon.get('admin/store/token', { cookie: 'a'.repeat(20_000) });
  const body = (await answer.json()) as object;

  expect(answer.status).toBe(431);
  expect(Object.keys(body)).toEqual(['code', 'msg']);
  for (const [path, methods] of Object.entries(paths)) {
    for (const operation of Object.values(methods)) {
      expect([path, operation.responses['431']?.content?.['application/json']?.schema]).toEqual([
        path,
        { $ref: '#/components/schemas/Refusal' },
      ]);
    }
  }
});

describe('what is refused before its operation is known, of a task', () => {
  const TASK = 'admin/store/install';
  const pathOf = (): string => `${daemon.base}/${TASK}`;
  const twoHosts = (): string =>
    `POST ${pathOf()} HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n`;
  const noHost = (): string => `POST ${pathOf()} HTTP/1.1\r\nHost: a b\r\n\r\n`;

  test.each<[string, number, () => Promise<RawAnswer>]>([
    [
      'another host',
      421,
      () =>
        send(`${daemon.url}${pathOf()}`, {
          method: 'POST',
          headers: { host: 'elsewhere.example' },
        }),
    ],
    ['two hosts', 400, () => sendBytes(daemon.url, twoHosts())],
    ['a host that is none', 400, () => sendBytes(daemon.url, noHost())],
    ['what is no HTTP', 400, () => sendBytes(daemon.url, `POST ${pathOf()} HTTP/x\r\n\r\n`)],
    ['a parameter', 400, async () => post(`package=..&token=${await daemon.token()}`)],
    ['a token', 403, () => post('package=demo&token=wrong')],
  ])('%s: %i as the operation says', async (_, status, ask) => {
    const answer = await ask();

    expect(answer.status).toBe(status);
    const responses = paths[pathOf()]?.['post']?.responses;
    expect(isOneOf(responses?.[String(status)], JSON.parse(answer.body) as object)).toBe(true);
  });

  const post = (query: string): Promise<RawAnswer> =>
    send(`${daemon.url}${pathOf()}?${query}`, { method: 'POST' });
});

/** Whether a refusal has the fields of one of the schemas named. */
function isOneOf(response: Operation['responses'][string] | undefined, body: object): boolean {
  const schema = response?.content?.['application/json']?.schema ?? {};
  const names = [...JSON.stringify(schema).matchAll(/schemas\/(\w+)/g)].map(([, name]) => name);
  return names.some(
    (name = '') => components.schemas[name]?.required.every((field) => field in body) === true,
  );
}

test('what the state of the device forbids is a conflict, and no bad request', async () => {
  const { feeds } = (await (await daemon.get('admin/store/feeds')).json()) as {
    feeds: { name: string; url: string }[];
  };
  const { name = '', url = '' } = feeds[0] ?? {};

  expect((await daemon.post('admin/store/add_feed', { name: 'other', url })).status).toBe(409);
  expect((await daemon.post('admin/store/remove_feed', { name })).status).toBe(409);
  for (const operation of ['add_feed', 'remove_feed']) {
    const { responses } = paths[`${daemon.base}/admin/store/${operation}`]?.['post'] ?? {};
    expect(responses?.['409']?.content?.['application/json']?.schema).toEqual({
      $ref: '#/components/schemas/TaskRefusal',
    });
  }
});
