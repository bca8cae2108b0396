import { join } from 'node:path';
import { DepotError } from '../../errors.ts';
import { revalidated } from '../../http/respond.ts';
import { get, type Route } from '../../http/route.ts';
import { packageName } from '../../package-management/names.ts';
import { readSmallBytes } from '../../device/owner-file.ts';
import { ICON_ENDINGS } from './icon-names.ts';

/** Icons change with an upgrade of their app: a browser asks again after an hour. */
const CACHE = 'private, max-age=3600';
/** An SVG that is opened as a page runs no script, and belongs to no origin. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

export function iconRoutes(folder: string): Route[] {
  return [
    get({
      path: 'admin/store/icon',
      summary: "An app's icon: PNG, SVG or WebP",
      params: { name: packageName },
      handle: async ({ params: { name }, context }) => {
        const icon = await readIcon(folder, name);
        if (icon === undefined) throw new DepotError('not_found', `cannot find an icon of ${name}`);
        const answer = revalidated(context.req.raw, icon.body);
        const type = wantsBytes(context.req.header('accept')) ? BYTES : icon.contentType;
        answer.headers.set('content-type', type);
        answer.headers.set('vary', 'Accept');
        answer.headers.set('cache-control', CACHE);
        answer.headers.set('content-security-policy', POLICY);
        return answer;
      },
    }),
  ];
}

const BYTES = 'application/octet-stream';

/** Generated clients that know no pictures name this type (RFC 9110, section 12.5.1). */
function wantsBytes(accept = ''): boolean {
  return /application\/octet-stream/i.test(accept) && !/image\/|\*\/\*/i.test(accept);
}

/** Icons have some kilobytes; a page with a hundred apps asks for a hundred of them. */
const MOST_BYTES = 256 * 1024;

/**
 * An app's picture, and what it is by its content.
 * @param folder the folder on the device
 * @param name of the app: letters, digits and . + _ -
 * @returns undefined if there is no picture of that name, or none that a browser shows
 */
async function readIcon(folder: string, name: string) {
  for (const ending of ICON_ENDINGS) {
    // A package may have put anything there.
    const body = await readSmallBytes(join(folder, `${name}.${ending}`), MOST_BYTES);
    const contentType = body === undefined ? undefined : typeOf(body);
    if (body !== undefined && contentType !== undefined) return { body, contentType };
  }
  return undefined;
}

/** PNG (W3C PNG, section 5.2), WebP (RFC 9649, section 2.4) or SVG by its root element. */
function typeOf(body: Uint8Array): string | undefined {
  const head = Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, 1024));
  const bytes = head.toString('latin1');
  if (bytes.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (/^RIFF[^]{4}WEBP/.test(bytes)) return 'image/webp';
  return SVG.test(head.toString('utf8')) ? 'image/svg+xml' : undefined;
}

/** What may stand before the root: a byte order mark, the declaration, comments, a doctype. */
const SVG =
  /^\ufeff?\s*(?:<\?xml[^>]*>\s*|<!--(?:(?!-->)[^])*-->\s*|<!DOCTYPE[^>]*>\s*)*<svg[\s>]/i;
