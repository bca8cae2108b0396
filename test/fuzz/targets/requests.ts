import * as fc from 'fast-check';

import { startDaemon, type TestDaemon } from '../../device/daemon.ts';
import type { Device } from '../../device/device.ts';
import { ask, type Answer } from '../../support/ask.ts';
import { property, type FuzzTarget } from '../target.ts';

/** Container data lies where the host's engine has it, not on the device in a folder. */
const OF_THE_HOST = /docker_/;
/** This one says with 500 that it cannot tell. */
const SAYS_500 = /check_self_upgrade$/;

interface Parameter {
  name: string;
  in: string;
  schema?: { type?: string | string[]; enum?: string[]; pattern?: string };
}
interface Operation {
  parameters?: Parameter[];
  requestBody?: {
    content: Record<string, { schema?: { properties?: Record<string, Parameter['schema']> } }>;
  };
}
interface Call {
  path: string;
  method: string;
  parameters: readonly Parameter[];
}

/**
 * Requests made from the daemon's own description: whatever the values are, the answer is JSON (or
 * what the path is for), no failure of the daemon's own, and the daemon lives.
 */
export async function requestTarget(device: Device): Promise<FuzzTarget> {
  const daemon = await startDaemon(device);
  const calls = await describedCalls(daemon);
  const token = await daemon.token();
  const { pid } = daemon;
  const target = property('requests', 60, {
    inputs: fc
      .constantFrom(...calls)
      .chain((call) =>
        fc.tuple(fc.constant(call), values(call.parameters), fc.integer({ min: 0, max: 9 })),
      ),
    check: async ([call, chosen, shape]) => {
      const params = new URLSearchParams(chosen);
      if (call.method !== 'GET' && shape < 8) params.set('token', token);
      const isForm = call.method === 'POST' && shape % 2 === 0;
      const path = call.path.replace(/\{[^}]+\}/g, 'x');
      const query = isForm ? '' : `?${params.toString()}`;
      const answer = await ask(`${daemon.url}${path}${query}`, {
        method: call.method,
        ...(isForm ? { form: Object.fromEntries(params) } : {}),
      }).catch((error: unknown) => String(error));
      process.kill(pid, 0);
      if (typeof answer === 'string') return `${call.method} ${path}: ${answer}`;
      return problemOf(path, answer);
    },
  });
  return { ...target, close: daemon.close };
}

function problemOf(path: string, { status, headers, text }: Answer): string | undefined {
  if (status < 400) return undefined;
  const isPromised = [502, 503, 504, 507].includes(status) || SAYS_500.test(path);
  if (status >= 500 && !isPromised) return `${status}: ${text}`;
  const type = headers['content-type'] ?? '';
  if (!type.startsWith('application/json')) return `${status} is told as ${type}`;
  const { msg, message = msg } = JSON.parse(text) as { msg?: string; message?: string };
  return typeof message === 'string' ? undefined : `${status} says ${text}`;
}

async function describedCalls({ get, base }: TestDaemon): Promise<Call[]> {
  const { paths } = (await (await get('openapi.json')).json()) as {
    paths: Record<string, Record<string, Operation>>;
  };
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([method]) => method === 'get' || !OF_THE_HOST.test(path))
      .filter(([method]) => ['get', 'post', 'put', 'patch', 'delete'].includes(method))
      .map(([method, operation]) => ({
        path: path.startsWith('/') ? path : `${base}/${path}`,
        method: method.toUpperCase(),
        parameters: parametersOf(operation),
      })),
  );
}

/** Those of a form may stand in the address as well. */
function parametersOf({ parameters = [], requestBody }: Operation): Parameter[] {
  const form = requestBody?.content['application/x-www-form-urlencoded']?.schema?.properties ?? {};
  const fields = Object.entries(form).map(([name, schema = {}]) => ({ name, in: 'query', schema }));
  return [...parameters, ...fields];
}

const awkward = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(
    '',
    '../../etc/passwd',
    '/',
    '//',
    '/etc/../..',
    'a\0b',
    'a\nb',
    '-rf',
    '--force',
    '$(id)',
    '`id`',
    "';--",
    '__proto__',
    'constructor',
    '0',
    '-1',
    '1e309',
    'NaN',
    '9'.repeat(40),
    'x'.repeat(5000),
    '\u202e',
    'é'.repeat(128),
    'latest',
    'istore',
    'demo',
    'libc',
  ),
);

function values(parameters: readonly Parameter[]): fc.Arbitrary<Record<string, string>> {
  const model = parameters
    .filter((parameter) => parameter.in === 'query' && parameter.name !== 'token')
    .map(({ name, schema }) => {
      const known = schema?.enum ?? (schema?.type?.includes('boolean') === true ? ['0', '1'] : []);
      const value = known.length > 0 ? fc.oneof(fc.constantFrom(...known), awkward) : awkward;
      return [name, value] as const;
    });
  return fc.record(Object.fromEntries(model), { requiredKeys: [] }) as fc.Arbitrary<
    Record<string, string>
  >;
}
