import type { IncomingMessage } from 'node:http';
import * as v from 'valibot';
import { DepotError } from '../errors.ts';
import { readForm } from './form.ts';
import { Refusal } from './respond.ts';

const FORM = 'application/x-www-form-urlencoded';

/**
 * From the query, and of a POST from a form. One that is in both says the same in both: who reads
 * one of them alone would act on another.
 * @throws DepotError too_large, too_slow, wrong_content_type, bad_request
 */
export async function readParameters(
  request: Request,
  incoming: IncomingMessage,
): Promise<Map<string, string[]>> {
  const values = readQuery(request);
  if (request.method !== 'POST' || !hasBody(request)) return values;
  const type = (request.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase();
  if (type !== FORM) {
    const message = `cannot read a body of the type "${type ?? ''}": ${FORM} is expected`;
    throw new DepotError('wrong_content_type', message);
  }
  const form = collect(new URLSearchParams(await readForm(incoming)));
  for (const [name, given] of form) {
    const asked = values.get(name);
    if (asked !== undefined && JSON.stringify(asked) !== JSON.stringify(given)) {
      throw saidOtherwise(name);
    }
  }
  return new Map([...form, ...values]);
}

export function saidOtherwise(name: string): DepotError {
  const message = `cannot use the parameter ${name}: the form says another value than the address`;
  return new DepotError('bad_request', message);
}

export function readQuery({ url }: Request): Map<string, string[]> {
  // Most have none, and an address costs its parsing.
  return url.includes('?') ? collect(new URL(url).searchParams) : new Map<string, string[]>();
}

/**
 * Nothing here unpacks a body; what packed it would be read as the text itself.
 * @throws Refusal wrong_content_type that says what is read (RFC 9110, section 12.5.3)
 */
export function checkCoding(request: Request): void {
  const coding = request.headers.get('content-encoding')?.trim().toLowerCase() ?? '';
  if (['', 'identity'].includes(coding) || !hasBody(request)) return;
  throw new Refusal(
    'wrong_content_type',
    `cannot read a body of the encoding "${coding.slice(0, 100)}": none is expected`,
    { headers: { 'Accept-Encoding': 'identity' } },
  );
}

/** Whether a request has a body, from the headers alone (RFC 9112, section 6). */
function hasBody({ headers }: Request): boolean {
  return (
    headers.get('transfer-encoding') !== null || Number(headers.get('content-length') ?? 0) > 0
  );
}

function collect(search: URLSearchParams): Map<string, string[]> {
  const values = new Map<string, string[]>();
  for (const [name, value] of search) {
    const known = values.get(name);
    if (known === undefined) values.set(name, [value]);
    // Not copied: a form has room for thousands of one name, and anybody may send one.
    else known.push(value);
  }
  return values;
}

/** Parameters as a schema lets them through: an array if one may be repeated. */
export type CheckedParameters = Record<string, string | string[] | undefined>;

/**
 * Parameters that a route declares; others, as the panel's `_t`, are let be. One whose schema is an
 * array may be given several times. @throws DepotError bad_request that names the parameter
 */
export function checkParameters(
  entries: v.ObjectEntries,
  values: ReadonlyMap<string, string[]>,
): CheckedParameters {
  const checked: CheckedParameters = {};
  for (const [name, schema] of Object.entries(entries)) {
    const given = values.get(name) ?? [];
    const isList = isRepeatable(schema);
    if (given.length > 1 && !isList) {
      const message = `cannot use the parameter ${name}: it is given ${given.length} times`;
      throw new DepotError('bad_request', message);
    }
    const result = v.safeParse(
      schema as v.GenericSchema<CheckedParameters[string], CheckedParameters[string]>,
      isList && given.length > 0 ? given : given[0],
    );
    if (!result.success) {
      const why = given.length === 0 ? 'it is missing' : result.issues[0].message;
      throw new DepotError('bad_request', `cannot use the parameter ${name}: ${why}`);
    }
    if (result.output !== undefined) checked[name] = result.output;
  }
  return checked;
}

/** An array, bare or in the wrappers that valibot puts around one. */
function isRepeatable(schema: object): boolean {
  if ('type' in schema && schema.type === 'array') return true;
  return 'wrapped' in schema && typeof schema.wrapped === 'object' && schema.wrapped !== null
    ? isRepeatable(schema.wrapped)
    : false;
}
