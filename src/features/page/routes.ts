import { gunzipSync } from 'node:zlib';

import * as v from 'valibot';

import { DepotError } from '../../errors.ts';
import { revalidated } from '../../http/respond.ts';
import { openGet, type Route } from '../../http/route.ts';
import { packedTextsOf } from '../../languages/languages.ts';
import { acceptsGzip } from '../../http/packed.ts';
import type { ServedPage } from './served-page.ts';

/** The built-in page: it talks to the same interface as everybody. */
export function panelRoutes({ base, auth }: { base: string; auth: string }): Route[] {
  let page: Promise<ServedPage> | undefined;
  return [
    openGet({
      path: `${base}/`,
      summary: 'The built-in panel page',
      handle: async ({ context }) => {
        page ??= import('./served-page.ts').then((served) => served.createServedPage(auth));
        return servePage(context.req.raw, await page);
      },
    }),
    openGet({
      path: `${base}/texts`,
      summary: "The page's texts in another language than English",
      params: { lang: v.pipe(v.string(), v.maxLength(35, 'at most 35 characters are allowed')) },
      handle: ({ context, params }) => serveTexts(context.req.raw, params.lang),
    }),
    openGet({
      path: base,
      summary: 'Leads to the built-in panel page',
      // Relative: a server in front may show another prefix (RFC 9110, section 10.2.2).
      handle: () =>
        new Response(null, {
          status: 302,
          headers: { location: `${base.slice(base.lastIndexOf('/') + 1)}/` },
        }),
    }),
  ];
}

function serveTexts(request: Request, code: string): Response {
  const packed = packedTextsOf(code);
  if (packed === undefined) {
    throw new DepotError('not_found', `cannot speak ${code}: there are no texts in this language`);
  }
  const isCompressed = acceptsGzip(request.headers.get('accept-encoding') ?? '');
  return encoded(revalidated(request, isCompressed ? packed : gunzipSync(packed)), isCompressed);
}

function servePage(request: Request, { policy, compressed, plain }: ServedPage): Response {
  const isCompressed = acceptsGzip(request.headers.get('accept-encoding') ?? '');
  const { body, etag } = isCompressed ? compressed : plain();
  const answer = encoded(revalidated(request, body, etag), isCompressed);
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy,
    'referrer-policy': 'same-origin',
    'x-frame-options': 'SAMEORIGIN',
  };
  for (const [name, value] of Object.entries(headers)) answer.headers.set(name, value);
  return answer;
}

function encoded(answer: Response, isCompressed: boolean): Response {
  answer.headers.set('vary', 'Accept-Encoding');
  if (isCompressed && answer.status === 200) answer.headers.set('content-encoding', 'gzip');
  return answer;
}
