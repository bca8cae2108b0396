import * as v from 'valibot';
import { etagOf } from '../../http/etag.ts';
import { flag, isOn, mostCharacters, oneOf } from '../../http/parameter-schemas.ts';
import { revalidated } from '../../http/respond.ts';
import { get, type Route } from '../../http/route.ts';
import { packageName } from '../../package-management/names.ts';
import type { Query } from './available.ts';
import type { Store } from './open-store.ts';

const LONGEST_QUERY = 200;
const MOST_WORDS = 16;
const LONGEST_TAG = 64;

/** The `\s` of ECMA-262 spelled out: clients of openapi.json read it with other engines. */
const BLANK =
  String.raw`\t\n\x0b\x0c\r \u00a0\u1680\u2000-\u200a` +
  String.raw`\u2028\u2029\u202f\u205f\u3000\ufeff`;
const WORDS = `^[^${BLANK}]*(?:[${BLANK}]+[^${BLANK}]*){0,${MOST_WORDS - 1}}$`;

const searchText = v.pipe(
  v.string(),
  mostCharacters(LONGEST_QUERY),
  v.regex(new RegExp(WORDS), `at most ${MOST_WORDS} words are allowed`),
);
const pageNumber = v.pipe(v.string(), v.regex(/^[1-9]\d{0,8}$/, 'a number from 1 on is expected'));
const pageSize = v.pipe(
  v.string(),
  v.regex(/^(?:[1-9]\d?|1\d\d|200)$/, 'a number from 1 to 200 is expected'),
);
const PAGE_SIZE = '50';

/** @param open loads and makes the store with the first request that needs it */
export function storeRoutes(open: () => Promise<Store>): Route[] {
  return [
    get({
      path: 'admin/store/available',
      summary: 'What there is: offered by feeds or installed, searched, sorted and by pages',
      params: {
        q: v.optional(searchText),
        kind: v.optional(oneOf(['app', 'package', 'all'])),
        programs: v.optional(flag),
        asked: v.optional(flag),
        state: v.optional(oneOf(['all', 'installed', 'upgradable'])),
        tag: v.optional(v.pipe(v.string(), mostCharacters(LONGEST_TAG))),
        sort: v.optional(oneOf(['relevance', 'name', 'size', 'time'])),
        page: v.optional(pageNumber),
        per_page: v.optional(pageSize),
      },
      handle: async ({ params, context }) => {
        const query: Query = {
          q: params.q ?? '',
          kind: params.kind ?? 'app',
          isProgramsOnly: isOn(params.programs),
          isAskedOnly: isOn(params.asked),
          state: params.state ?? 'all',
          tag: params.tag ?? '',
          sort: params.sort ?? ((params.q ?? '').trim() === '' ? 'name' : 'relevance'),
        };
        const paging = {
          page: Number(params.page ?? 1),
          perPage: Number(params.per_page ?? PAGE_SIZE),
        };
        const body = JSON.stringify(await (await open()).page(query, paging));
        // Two queries that find the same are still two answers.
        const etag = etagOf(`${JSON.stringify([query, paging])}\n${body}`);
        return revalidated(context.req.raw, body, etag);
      },
    }),
    get({
      path: 'admin/store/details',
      summary: 'All about one app or package: versions, relations, files, services',
      params: { package: packageName, kind: v.optional(oneOf(['app', 'package'])) },
      handle: async ({ params, context }) => {
        const details = await (await open()).details(params.package, params.kind);
        return revalidated(context.req.raw, JSON.stringify(details));
      },
    }),
  ];
}
