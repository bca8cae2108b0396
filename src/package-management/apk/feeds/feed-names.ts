/**
 * apk's feeds have no names, so that people are shown the end of the address: `base` of
 * `…/packages/x86_64/base/packages.adb`, and as much more of it as tells two feeds apart. The
 * address itself is the last resort.
 * @returns a name for each, in their order
 */
export function nameFeeds(
  feeds: readonly { url: string; ownName: string | undefined }[],
): string[] {
  const given = feeds.map(({ ownName }) => ownName);
  const choices = feeds.map(({ url }) => namesFrom(url));
  return feeds.map(({ ownName }, index) => {
    if (ownName !== undefined && given.indexOf(ownName) === index) return ownName;
    const isFree = (name: string): boolean =>
      !given.includes(name) &&
      choices.every(
        (others, other) => other === index || given[other] !== undefined || !others.includes(name),
      );
    const names = choices[index] ?? [];
    return names.find(isFree) ?? `${names.at(-1) ?? 'feed'}-${index + 1}`;
  });
}

/** From the shortest to the longest. */
function namesFrom(url: string): string[] {
  const words = url
    .replace(/^\w+:\/\//, '')
    .split('/')
    .map((word) => word.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[^A-Za-z0-9]+|-+$/g, ''))
    .filter((word) => word !== '');
  // The index's own name says nothing.
  const shown = words.length > 1 ? words.slice(0, -1) : words;
  return shown.map((_, index) => shown.slice(shown.length - 1 - index).join('-'));
}
