import { createPage } from '../../panel/create-page.ts';
import html from '../../panel/index.html';
import script from '../../panel/panel.client.js';
import css from '../../panel/panel.css';
import { revalidated, unchanging } from '../../http/respond.ts';
import { openGet, type Route } from '../../http/route.ts';

/** The built-in page: it talks to the same interface as everybody. */
export function panelRoutes({ base, auth }: { base: string; auth: string }): Route[] {
  const page = createPage({ html, css, script, auth });
  const { body, etag } = unchanging(page.html);
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': page.policy,
    'referrer-policy': 'same-origin',
    'x-frame-options': 'SAMEORIGIN',
  };
  return [
    openGet({
      path: `${base}/`,
      summary: 'The built-in panel page',
      params: {},
      handle: ({ context }) => {
        const answer = revalidated(context.req.raw, body, etag);
        for (const [name, value] of Object.entries(headers)) answer.headers.set(name, value);
        return answer;
      },
    }),
    openGet({
      path: base,
      summary: 'Leads to the built-in panel page',
      params: {},
      // Relative, as the page's own addresses are: a server in front may show another prefix (RFC
      // 9110, section 10.2.2).
      handle: () =>
        new Response(null, {
          status: 302,
          headers: { location: `${base.slice(base.lastIndexOf('/') + 1)}/` },
        }),
    }),
  ];
}
