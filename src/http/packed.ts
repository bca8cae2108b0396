import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { bodyOf } from './respond.ts';

/** Less fits one packet either way. */
const LEAST_BYTES = 1400;
const LEVEL = 4;
const pack = promisify(gzip);

/** With gzip the entity tag becomes a weak one: other bytes say the same (RFC 9110, 8.8.1). */
export async function packed({ headers: asked }: Request, answer: Response): Promise<Response> {
  const { headers, status } = answer;
  const isJson = headers.get('content-type')?.startsWith('application/json') === true;
  // An answer that is kept packed, as the page's texts are.
  if (headers.has('content-encoding')) return answer;
  if (!isJson || status !== 200 || !acceptsGzip(asked.get('accept-encoding') ?? '')) return answer;
  const body = bodyOf(answer);
  if (body === undefined) return answer;
  headers.set('vary', 'Accept-Encoding');
  if (Buffer.byteLength(body) < LEAST_BYTES) return answer;
  const fields = new Headers(headers);
  fields.set('content-encoding', 'gzip');
  const etag = fields.get('etag');
  if (etag !== null && !etag.startsWith('W/')) fields.set('etag', `W/${etag}`);
  return new Response(await pack(body, { level: LEVEL }), { status, headers: fields });
}

/**
 * Whether whoever asks reads gzip (RFC 9110, section 12.5.3). Without the header it gets the plain
 * text: a program that reads none mostly sends none. @param header empty if there is none
 */
export function acceptsGzip(header: string): boolean {
  const weights = new Map(weightsIn(header.toLowerCase()));
  return (weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0) > 0;
}

/** What a header such as Accept-Language prefers, and how much (RFC 9110, section 12.4.2). */
export function weightsIn(header: string): [name: string, weight: number][] {
  return header.split(',').map((entry) => {
    const [name = '', ...parameters] = entry.split(';').map((text) => text.trim());
    const weight = parameters.find((text) => /^q=/i.test(text))?.slice(2);
    return [name, Number(weight ?? 1)];
  });
}
