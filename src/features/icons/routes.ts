import { DepotError } from '../../errors.ts';
import { revalidated } from '../../http/respond.ts';
import { get, type Route } from '../../http/route.ts';
import { packageName } from '../../package-management/names.ts';
import { readIcon } from './read-icon.ts';

/** Icons change with an upgrade of their app: a browser asks again after an hour. */
const CACHE = 'private, max-age=3600';

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
        // An SVG that is opened as a page runs no script, and belongs to no origin.
        answer.headers.set(
          'content-security-policy',
          "default-src 'none'; style-src 'unsafe-inline'; sandbox",
        );
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
