/** Where a request goes, in the bytes that were sent (latin1). */
export interface ForgeTarget {
  /** What stands before the API root here: empty or the base of the CGI tree. */
  mount: string;
  /** Below the API root, with its leading slash; empty for the root itself. */
  path: string;
  /** Query with its question mark, without the panel's own parameters; empty if none is left. */
  query: string;
}

/** Reads raw request targets (RFC 9112, section 3.2) without ever decoding what is sent on. */
export type TargetReader = ReturnType<typeof createTargetReader>;

/** @param options `path`: the API root; `base`: the CGI tree, below which it is reached, too */
export function createTargetReader({ path: root, base }: { path: string; base: string }) {
  const mounts = [root, `${base}${root}`].map((path) => ({
    mount: path.slice(0, path.length - root.length),
    path,
    spelling: spellingOf(path),
  }));
  /** Where the API root ends in a target. */
  const locate = (rawTarget: string): { mount: string; end: number } | undefined => {
    for (const { mount, path } of mounts) {
      if (isBelow(rawTarget, path)) return { mount, end: path.length };
    }
    if (!rawTarget.includes('//')) return undefined;
    for (const { mount, spelling } of mounts) {
      const end = spelling.exec(rawTarget)?.[0].length;
      if (end !== undefined) return { mount, end };
    }
    return undefined;
  };
  return {
    /** Whether the target is in origin form and lies at or below an API root of ours. */
    owns: (rawTarget: string): boolean => locate(rawTarget) !== undefined,
    /** @returns the target, or a sentence that says why it is refused */
    read: (rawTarget: string): ForgeTarget | string => {
      const location = locate(rawTarget);
      if (location === undefined) return 'cannot serve a target outside the API root';
      const [path, query] = splitQuery(rawTarget.slice(location.end));
      const problem = problemOf(path, query);
      return problem ?? { mount: location.mount, path, query: withoutPanelParameters(query) };
    },
  };
}

/** The path with any number of slashes for one, as the forge reads it (docs/reference/forge.md). */
function spellingOf(path: string): RegExp {
  const segments = path
    .slice(1)
    .split('/')
    .map((segment) => segment.replaceAll('.', '\\.'));
  return new RegExp(`^/+${segments.join('/+')}(?=[/?]|$)`);
}

function isBelow(target: string, root: string): boolean {
  if (!target.startsWith(root)) return false;
  const next = target.charAt(root.length);
  return next === '' || next === '/' || next === '?';
}

/** @returns the path, and the query with its question mark */
export function splitQuery(text: string): [string, string] {
  const mark = text.indexOf('?');
  return mark === -1 ? [text, ''] : [text.slice(0, mark), text.slice(mark)];
}

/** All but visible ASCII and the bytes above; and `#`: no fragment is sent (RFC 9110, 4.2.5). */
const UNSAFE_IN_QUERY = /[^\x21-\x7e\x80-\xff]|#/;
/** A raw backslash is a slash to some programs on the way and none to others. */
const UNSAFE_IN_PATH = /[^\x21-\x7e\x80-\xff]|[#\\]/;
/** A `..` between slashes or backslashes, with path parameters behind it (`..;x`) or without. */
const CLIMBS = /(?:^|[/\\])\.\.(?:;[^/\\]*)?(?:[/\\]|$)/;
const ESCAPE = /%([0-9A-Fa-f]{2})/g;
/** No name is escaped more often than this by anybody who means well. */
const MAX_ESCAPE_LEVELS = 8;

/**
 * The forge decodes a path once; somebody on the way may do it again. So each level of escaping is
 * looked at: none may climb or hold a NUL. `a%2Fb`, sent as `a%252Fb`, passes.
 */
function problemOf(path: string, query: string): string | undefined {
  if (UNSAFE_IN_PATH.test(path)) {
    return 'cannot pass the path: it has a character that no URL path may have';
  }
  const levels = decodings(path);
  for (const text of levels) {
    if (text.includes('..') && CLIMBS.test(text)) {
      return 'cannot pass the path: it climbs with ".."';
    }
    if (text.includes('\0')) return 'cannot pass the path: it has a NUL';
  }
  if (levels.length > MAX_ESCAPE_LEVELS + 1) return 'cannot pass the path: it is escaped too often';
  return UNSAFE_IN_QUERY.test(query)
    ? 'cannot pass the query: it has a character that no URL may have'
    : undefined;
}

/** As sent, and decoded again and again, once more than `MAX_ESCAPE_LEVELS` at most. */
export function decodings(path: string): string[] {
  const levels = [path];
  for (let text = path; text.includes('%') && levels.length <= MAX_ESCAPE_LEVELS + 1;) {
    const decoded = decodeOnce(text);
    if (decoded === text) break;
    levels.push(decoded);
    text = decoded;
  }
  return levels;
}

function decodeOnce(text: string): string {
  return text.replace(ESCAPE, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/**
 * Cuts the panel's `token` and `_t` out of a query and leaves every other byte as it is. The forge
 * reads `?token=` before `Authorization`, so a panel token there would turn a good request into a
 * 401 and stand in the forge's log (docs/reference/forge.md). `;` is a separator to older forges,
 * and a second `?` comes from pages that append the token to an address which has a query already.
 * @param query with its question mark, or empty
 */
export function withoutPanelParameters(query: string): string {
  if (!/token|_t|%/.test(query)) return query;
  const rest = withoutPanelPieces(query.slice(1), SEPARATORS);
  if (rest.length === query.length - 1) return query;
  return rest === '' ? '' : `?${rest}`;
}

const SEPARATORS = ['&', ';', '?'];

function withoutPanelPieces(text: string, [separator, ...finer]: string[]): string {
  if (separator === undefined) return isPanelParameter(text) ? '' : text;
  if (!text.includes(separator)) return withoutPanelPieces(text, finer);
  const pieces = text.split(separator);
  const kept = pieces
    .map((piece) => withoutPanelPieces(piece, finer))
    .filter((piece, index) => piece !== '' || pieces[index] === '');
  return kept.join(separator);
}

function isPanelParameter(piece: string): boolean {
  const equals = piece.indexOf('=');
  const name = decodeOnce(equals === -1 ? piece : piece.slice(0, equals));
  return name === 'token' || name === '_t';
}
