import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { bodyOf } from './respond.ts';

/** Less fits one packet either way. */
const LEAST_BYTES = 1400;
const LEVEL = 4;
const pack = promisify(gzip);

/**
 * A JSON answer with gzip, for whoever asks for that. Its entity tag becomes a weak one: the bytes
 * are others, what they say is the same (RFC 9110, section 8.8.1).
 */
export async function packed({ headers: asked }: Request, answer: Response): Promise<Response> {
  const { headers, status } = answer;
  const isJson = headers.get('content-type')?.startsWith('application/json') === true;
  // Kept packed, as the page's texts are.
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
 * Whether whoever asks reads gzip (RFC 9110, section 12.5.3). No header says that any coding is
 * fine; a program that reads none mostly sends none, so that it gets the plain text.
 * @param header value of Accept-Encoding, empty if there is none
 */
export function acceptsGzip(header: string): boolean {
  const weights = new Map(
    header.split(',').map((entry) => {
      const [coding = '', ...parameters] = entry.split(';').map((text) => text.trim());
      const weight = parameters.find((text) => /^q=/i.test(text))?.slice(2);
      return [coding.toLowerCase(), weight === undefined ? 1 : Number(weight)];
    }),
  );
  return (weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0) > 0;
}
