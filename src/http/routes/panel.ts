import { PAGE } from '../../panel/page.ts';
import { openGet, type Route } from '../route.ts';

/** The built-in page: it talks to the same interface as everybody. */
export function panelRoutes(base: string): Route[] {
  return [
    openGet({
      path: `${base}/`,
      summary: 'The built-in panel page',
      params: {},
      handle: () => new Response(PAGE, { headers: { 'content-type': 'text/html; charset=utf-8' } }),
    }),
  ];
}
