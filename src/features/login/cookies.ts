/**
 * The values of the cookies with these names, in the order of the names, and of one name in the
 * order sent: a browser that has two cookies of one name sends both, that of the longer path first
 * (RFC 6265, section 5.4). Quotes around a value are taken off.
 */
export function cookieValues(headers: Headers, names: readonly string[]): string[] {
  const pairs = (headers.get('cookie') ?? '').split(';').map(splitPair);
  return names.flatMap((wanted) =>
    pairs.filter(([name]) => name === wanted).map(([, value]) => value),
  );
}

function splitPair(pair: string): [name: string, value: string] {
  const at = pair.indexOf('=');
  if (at === -1) return ['', ''];
  return [
    pair.slice(0, at).trim(),
    pair
      .slice(at + 1)
      .trim()
      .replace(/^"([^"]*)"$/, '$1'),
  ];
}
