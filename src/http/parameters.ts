import * as v from 'valibot';
import { DepotError } from '../errors.ts';

/** Largest form of parameters, in bytes; uploads do not come this way. */
const MOST_FORM_BYTES = 64 * 1024;
const FORM = 'application/x-www-form-urlencoded';

/**
 * The parameters of a request: from the query, and of a POST from a form, where the query wins.
 * @throws DepotError too_large, wrong_content_type
 */
export async function readParameters(request: Request): Promise<Map<string, string[]>> {
  const values = readQuery(request);
  if (request.method !== 'POST' || !hasBody(request)) return values;
  const type = (request.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase();
  if (type !== FORM) throw new DepotError('wrong_content_type', `cannot read a body of the type "${type ?? ''}": ${FORM} is expected`);
  const form = collect(new URLSearchParams(await readText(request)));
  return new Map([...form, ...values]);
}

export function readQuery(request: Request): Map<string, string[]> {
  return collect(new URL(request.url).searchParams);
}

function hasBody({ headers, body }: Request): boolean {
  return headers.get('transfer-encoding') !== null || Number(headers.get('content-length') ?? 0) > 0 || (body !== null && headers.get('content-type') !== null);
}

function collect(search: URLSearchParams): Map<string, string[]> {
  const values = new Map<string, string[]>();
  for (const [name, value] of search) values.set(name, [...(values.get(name) ?? []), value]);
  return values;
}

async function readText({ headers, body }: Request): Promise<string> {
  const tooLarge = new DepotError('too_large', `cannot read a form of more than ${MOST_FORM_BYTES} bytes`);
  if (Number(headers.get('content-length') ?? 0) > MOST_FORM_BYTES) throw tooLarge;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > MOST_FORM_BYTES) throw tooLarge;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/**
 * Checks the parameters that a route declares; others, such as the panel's `_t`, are let be.
 * @throws DepotError bad_request that names the parameter
 */
export function checkParameters(entries: v.ObjectEntries, values: ReadonlyMap<string, string[]>): Record<string, string | undefined> {
  const checked: Record<string, string | undefined> = {};
  for (const [name, schema] of Object.entries(entries)) {
    const given = values.get(name) ?? [];
    if (given.length > 1) throw new DepotError('bad_request', `cannot use the parameter ${name}: it is given ${given.length} times`);
    const result = v.safeParse(schema as v.GenericSchema<string | undefined, string | undefined>, given[0]);
    if (!result.success) throw new DepotError('bad_request', `cannot use the parameter ${name}: ${given.length === 0 ? 'it is missing' : result.issues[0].message}`);
    if (result.output !== undefined) checked[name] = result.output;
  }
  return checked;
}
