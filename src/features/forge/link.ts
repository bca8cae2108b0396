/**
 * One link: `<URI>` and its parameters up to the comma before the next `<` (RFC 8288, section 3).
 */
const LINK = /<([^>]*)>([^<]*)/g;
/** The relations of paging; any other, such as `immutable`, names a resource of its own. */
const PAGING = /;\s*rel\s*=\s*"?(?:next|prev|first|last)"?\s*(?:[;,]|$)/i;

/** An unfinished link: browsers join header lines of one name, so it may go on in the next. */
const HALF_A_LINK = /^[^<]*>|<[^<>]*$/;

/** Link relations that only name something. Others have a browser load it, with its cookies. */
const NAMING = new RegExp(
  String.raw`^\s*;\s*rel\s*=\s*("?)(?:next|prev|first|last|immutable|self|canonical|` +
    String.raw`describedby|license|deprecation|sunset|successor-version|latest-version)\1[\s,]*$`,
  'i',
);

/**
 * Points the paging links of a `Link` header at this host, and leaves out links that a browser
 * might load; every other byte stays. The forge writes them from its own ROOT_URL, which may name
 * another host, and another prefix, than the one it is reached by, so everything before the API
 * root is replaced.
 * @param options `apiRoot`: such as `/api/v1`; `origin`: scheme, host and mount that the caller
 *   used, such as `http://nas/cgi-bin/panel`
 */
export function rewritePagingLinks(
  value: string,
  { apiRoot, origin }: { apiRoot: string; origin: string },
): string {
  if (HALF_A_LINK.test(value)) return '';
  return value.replace(LINK, (whole, uri: string, parameters: string) => {
    if (!NAMING.test(parameters)) return '';
    if (!PAGING.test(parameters)) return whole;
    const below = belowRoot(uri, apiRoot);
    return below === undefined ? whole : `<${origin}${apiRoot}${below}>${parameters}`;
  });
}

/** What stands behind the API root in an absolute URI or path; undefined if that lacks the root. */
function belowRoot(uri: string, apiRoot: string): string | undefined {
  const authority = /^(?:https?:)?\/\/[^/?#]*/i.exec(uri)?.[0] ?? '';
  const mark = uri.search(/[?#]/);
  const path = uri.slice(authority.length, mark === -1 ? undefined : mark);
  const position = path.indexOf(`${apiRoot}/`);
  return position === -1 ? undefined : uri.slice(authority.length + position + apiRoot.length);
}
