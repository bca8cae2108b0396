import { Validator } from '@seriousme/openapi-schema-validator';
import * as v from 'valibot';
import { beforeAll, describe, expect, test } from 'vitest';

import { daemonOfFile } from '../../support/daemon-of-file.ts';
import { allDocumentation, undocumentedIn } from '../../support/documented-answers.ts';

interface Schema {
  pattern?: string;
  type?: string;
  description?: string;
  required?: string[];
  properties?: Record<string, Schema>;
}

interface Operation {
  summary: string;
  deprecated?: boolean;
  parameters: { name: string; description?: string; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  operationId?: string;
  tags?: string[];
  security?: Record<string, string[]>[];
  responses: Record<
    string,
    {
      content?: Partial<Record<string, { schema?: object; example?: unknown }>>;
      headers?: object;
    }
  >;
}

const FORM = 'application/x-www-form-urlencoded';

function fieldsOf({ requestBody }: Operation): [name: string, schema: Schema][] {
  return Object.entries(requestBody?.content[FORM]?.schema.properties ?? {});
}

interface Document {
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: object; securitySchemes: object };
}

const daemon = daemonOfFile({ set: ['forge.upstream=http://127.0.0.1:9'] });
let document: Document;
let operations: [name: string, operation: Operation][];

beforeAll(async () => {
  document = (await (await daemon.get('openapi.json')).json()) as Document;
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Operation] => [
      `${method} ${path}`,
      operation,
    ]),
  );
});

describe('openapi.json drives a client', () => {
  test('it is a valid OpenAPI 3.1 document', async () => {
    const { valid, errors } = await new Validator().validate({ ...structuredClone(document) });

    expect([valid, errors]).toEqual([true, undefined]);
  });

  test('every operation has a name of its own, a named tag and says who may call', () => {
    const tags = document.tags.map(({ name }) => name);
    const ids = operations.map(([, { operationId }]) => operationId);

    expect(operations.length).toBeGreaterThan(70);
    expect(operations.filter(([, { operationId }]) => operationId === undefined)).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
    expect(operations.filter(([, each]) => !tags.includes(each.tags?.[0] ?? ''))).toEqual([]);
    expect(operations.filter(([, { security }]) => security === undefined)).toEqual([]);
    const named = operations.flatMap(([, { security = [] }]) => security.flatMap(Object.keys));
    expect(Object.keys(document.components.securitySchemes).sort()).toEqual(
      [...new Set(named)].sort(),
    );
  });

  test('every operation of the device says what a good answer is', () => {
    const own = operations.filter(([, { tags }]) => tags?.[0] !== 'Forge');
    const vague = own.filter(([, { responses }]) => '2XX' in responses);
    const withoutSchema = own.flatMap(([name, { responses }]) =>
      Object.entries(responses)
        .filter(([, { content = {} }]) =>
          Object.values(content).some((media) => media?.schema === undefined),
        )
        .map(([status]) => `${name} ${status}`),
    );

    expect(vague.map(([name]) => name)).toEqual([]);
    expect(withoutSchema).toEqual([]);
  });

  test('a log-in by a form is refused with a page, or as JSON', () => {
    const logIn = operations.find(([, { operationId }]) => operationId === 'logIn')?.[1];
    const typesOf = (status: string): string[] =>
      Object.keys(logIn?.responses[status]?.content ?? {});

    expect(typesOf('400')).toEqual(['application/json', 'text/html']);
    expect(typesOf('431')).toEqual(['application/json']);
  });

  test('patterns are read by engines without lookaround, too, and say what a path is', () => {
    const withPattern = operations.flatMap(([name, operation]) =>
      [
        ...operation.parameters.map(({ name: key, schema }): [string, Schema] => [key, schema]),
        ...fieldsOf(operation),
      ].flatMap(([parameter, { pattern }]) =>
        pattern === undefined ? [] : [{ name: `${name} ${parameter}`, pattern }],
      ),
    );
    const named = withPattern.map(({ name }) => name.replace(/^.*\//, ''));

    expect(withPattern.filter(({ pattern }) => /\(\?[=!<]/.test(pattern))).toEqual([]);
    for (const { pattern } of withPattern) expect(() => new RegExp(pattern, 'u')).not.toThrow();
    expect(named).toContain('docker_check_migrate path');
    expect(named).toContain('docker_migrate path');
    expect(named).toContain('entrysh hostname');
  });

  test('an upload needs its file, and an icon is bytes, also for generators that know no pictures', () => {
    const of = (name: string): Operation | undefined =>
      operations.find(([each]) => each.endsWith(name))?.[1];
    const form = of('store/upload')?.requestBody?.content['multipart/form-data'];

    expect(form?.schema.required).toEqual(['file']);
    const bytes = { schema: { type: 'string', format: 'binary' } };
    expect(of('store/icon')?.responses['200']?.content).toEqual({
      'image/png': bytes,
      'image/svg+xml': bytes,
      'image/webp': bytes,
      'application/octet-stream': bytes,
    });
  });

  test('nothing is documented that is not there', async () => {
    const routes = operations.map(([name]) =>
      name.replace(/^\w+/, (method) => method.toUpperCase()).replace(`${daemon.base}/`, ''),
    );
    const documented = (await allDocumentation()).flatMap((each) => Object.keys(each.operations));

    expect(documented.filter((name) => !routes.includes(name))).toEqual([]);
  });

  test('each example fits the schema that it stands for', async () => {
    const examples = (await allDocumentation()).flatMap((feature) =>
      Object.entries(feature.operations).flatMap(([name, { answers }]) =>
        Object.values(answers).flatMap(({ schema, example }) =>
          schema === undefined || example === undefined ? [] : [{ name, schema, example }],
        ),
      ),
    );

    expect(examples.length).toBeGreaterThan(20);
    for (const { name, schema, example } of examples) {
      expect([name, v.safeParse(schema, example).issues]).toEqual([name, undefined]);
    }
  });
});

describe('openapi.json says', () => {
  test('what a change is asked for stands in a form, and each parameter says what it is', () => {
    const own = operations.filter(([, { tags }]) => tags?.[0] !== 'Forge');
    const changes = own.filter(([name]) => name.startsWith('post '));
    const inAddress = changes.filter(
      ([name, { parameters }]) =>
        parameters.some(({ name: key }) => key !== 'X-CSRF-Token') &&
        !/upload|add_backup|light_restore/.test(name),
    );
    const unsaid = own.flatMap(([name, operation]) =>
      [
        ...operation.parameters.map((each) => ({ key: each.name, text: each.description })),
        ...fieldsOf(operation).map(([key, { description: text }]) => ({ key, text })),
      ].flatMap(({ key, text = '' }) => (text === '' ? [`${name} ${key}`] : [])),
    );

    expect(changes.length).toBeGreaterThan(30);
    expect(inAddress.map(([name]) => name)).toEqual([]);
    expect(unsaid).toEqual([]);
  });

  test('a form takes names that begin with an underscore, and no others', async () => {
    const update = operations.find(([name]) => name.endsWith('store/update'))?.[1];
    const form = update?.requestBody?.content[FORM]?.schema;

    expect(form).toMatchObject({ patternProperties: { '^_': {} }, additionalProperties: false });
    expect((await daemon.post('admin/store/update', { __main__: '1' })).status).toBe(200);
    expect((await daemon.post('admin/store/update', { main: '1' })).status).toBe(400);
  });

  test('whole numbers and booleans are such', () => {
    const of = (name: string): Operation | undefined =>
      operations.find(([each]) => each.endsWith(name))?.[1];
    const install = of('store/install')?.requestBody?.content[FORM]?.schema.properties;
    const perPage = of('store/available')?.parameters.find(({ name }) => name === 'per_page');

    expect(install?.autoconf).toMatchObject({ type: ['boolean', 'integer'] });
    expect(install?.confirm_s).toMatchObject({ type: 'integer', minimum: 30, maximum: 600 });
    expect(perPage?.schema).toEqual({ type: 'integer', minimum: 1, maximum: 200 });
  });

  test('each answer in JSON has an example, each refusal a status, and headers are said', () => {
    const own = operations.filter(([, { tags }]) => tags?.[0] !== 'Forge');
    const answers = own.flatMap(([name, { responses }]) =>
      Object.entries(responses).map(([status, answer]) => ({ name, status, ...answer })),
    );
    const shown = answers.filter(({ status }) => status.startsWith('2'));
    const headersOf = (name: string, status: string): string[] =>
      answers
        .filter((each) => each.name.endsWith(name) && each.status === status)
        .flatMap(({ headers = {} }) => Object.keys(headers));

    expect(
      shown
        .filter(({ content = {} }) => content['application/json']?.example === undefined)
        .filter(({ content = {} }) => 'application/json' in content)
        .map(({ name }) => name),
    ).toEqual([]);
    expect(answers.filter(({ status }) => !/^[2345]\d\d$/.test(status))).toEqual([]);
    expect(headersOf('store/available', '200')).toEqual(['ETag']);
    expect(headersOf('post /cgi-bin/panel/admin/login', '204')).toContain('X-Depotd-Key');
    expect(headersOf('store/install', '503')).toEqual(['Retry-After']);
    const old = own.filter(([, { summary }]) => summary.includes('deprecated'));
    expect(old.every(([, { deprecated }]) => deprecated === true)).toBe(true);
  });
});

test('an answer that is not as documented is found', async () => {
  const answer = { method: 'GET', path: '/cgi-bin/panel/admin/store/token', status: 200 };

  expect(await undocumentedIn(answer, { token: 'a', may_write: true })).toBeUndefined();
  expect(await undocumentedIn(answer, { tokens: 'a' })).toContain('token');
});
