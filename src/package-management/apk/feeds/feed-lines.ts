import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readSmallFile } from '../../../device/owner-file.ts';
import { EXAMPLE, type Feed, type GarbageLine } from '../../feed-settings.ts';
import type { Locations } from '../database/apk-locations.ts';
import { readWorld, type WorldEntry } from '../database/world.ts';

/** Largest file of feeds, which its owner edits by hand. */
const MOST_BYTES = 1024 ** 2;
const UNREADABLE = `it is no file, or larger than ${MOST_BYTES} bytes`;

/** A line that names a feed; one that is commented out stands for a feed that is switched off. */
export interface FeedEntry extends Feed {
  /** The feed's tag without its `@`; empty if it has none. */
  tag: string;
  /** Name of the file of feeds, without its folder. */
  file: string;
  /** Index of its line. */
  index: number;
  isEnabled: boolean;
}

/**
 * Reads `repositories.d/*.list` as apk does (apk-repositories(5)): an address a line, with a
 * keyword or a tag before it. apk warns of a line that it does not know and goes on without the
 * feed, so that the owner finds packages gone.
 * @returns `garbage`: those lines; the feed's name is the file and the line
 */
export async function readFeeds(folder: string) {
  const { entries, garbage } = await readEntries(folder);
  return {
    feeds: entries.flatMap(({ name, url, tag, isEnabled }) =>
      isEnabled ? [{ name, url, tag }] : [],
    ),
    garbage: garbage.map(({ file, line, text, reason }) => ({
      feed: { name: `${file}:${line}`, url: text },
      reason,
    })),
  };
}

/** All feeds, those switched off, too, and where each stands: in the file of that name. */
export async function readEntries(folder: string) {
  const files = (await readdir(folder).catch(() => []))
    .filter((name) => name.endsWith('.list') && !name.startsWith('.'))
    .sort();
  const found: (Omit<FeedEntry, 'name'> & { ownName: string | undefined })[] = [];
  const garbage: GarbageLine[] = [];
  for (const file of files) {
    const text = await readSmallFile(join(folder, file), MOST_BYTES);
    if (text === undefined) garbage.push({ file, line: 1, text: file, reason: UNREADABLE });
    const lines = (text ?? '').split('\n');
    lines.forEach((line, index) => {
      const entry = parseLine(line);
      if (entry === undefined) return;
      if ('url' in entry) {
        found.push({ ...entry, file, index, ownName: nameIn(lines[index - 1] ?? '') });
      } else {
        const shown = line.trim().slice(0, 80);
        garbage.push({ file, line: index + 1, text: shown, reason: entry.fault });
      }
    });
  }
  const names = nameFeeds(found);
  const entries = found.map((entry, number) => ({ ...entry, name: names[number] ?? entry.url }));
  return { entries, garbage };
}

/** What stands above the line of a feed that was added under a name: apk itself knows none. */
const NAME_MARK = '# feed: ';

export function nameLine(name: string): string {
  return `${NAME_MARK}${name}`;
}

export function nameIn(line: string): string | undefined {
  return line.startsWith(NAME_MARK) ? line.slice(NAME_MARK.length).trim() : undefined;
}

const KEYWORDS = ['ndx', 'v2', 'v3'];

type Line = { url: string; tag: string; isEnabled: boolean } | { fault: string };

/** What stands behind the `#` of a feed that is switched off; any other comment is none. */
const SWITCHED_OFF =
  /^#+\s*((?:(?:ndx|v2|v3|@\S+)\s+)*(?:\S+:\/\/\S+|[/$]\S+\.(?:adb|tar\.gz)))\s*$/;

/** @returns undefined for a line that says nothing */
function parseLine(line: string): Line | undefined {
  const [, off = ''] = SWITCHED_OFF.exec(line) ?? [];
  const parsed = parseActive(off === '' ? line : off);
  if (off === '' || parsed === undefined) return parsed;
  return 'url' in parsed && !EXAMPLE.test(parsed.url) ? { ...parsed, isEnabled: false } : undefined;
}

function parseActive(line: string): Line | undefined {
  const words = line.trim().split(/\s+/);
  const [first = ''] = words;
  if (first === '' || first === 'set' || line.startsWith('#')) return undefined;
  if (!isAddress(first) && !isTag(first) && !KEYWORDS.includes(first)) {
    return { fault: `"${first.slice(0, 40)}" is no feed` };
  }
  const url = words.find((word) => !KEYWORDS.includes(word) && !isTag(word)) ?? '';
  const tag = words.find(isTag)?.slice(1) ?? '';
  return isAddress(url) ? { url, tag, isEnabled: true } : { fault: 'it has no address' };
}

function isTag(word: string): boolean {
  return word.startsWith('@');
}

/** A variable may stand for the beginning of one. */
function isAddress(word: string): boolean {
  return word.startsWith('/') || word.includes('://') || word.startsWith('${');
}

/** apk reads such an index where it is, and keeps no copy of it. */
export function isOnDevice(url: string): boolean {
  return /^(?:file:|\/)/.test(url);
}

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

/** Names for a feed that its URL has, from the shortest to the longest. */
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

/**
 * What feeds with a tag offer is masked: apk takes it for those packages alone that world asks for
 * with the tag, and for what they need (apk-repositories(5), apk-world(5)).
 * @returns `version`: changes with what is masked; the lists of feeds have versions of their own
 */
export async function readMasks({ feeds: folder, world }: Locations) {
  const { feeds } = await readFeeds(folder);
  const open = new Set(feeds.flatMap(({ url, tag }) => (tag === '' ? [url] : [])));
  const tagged = feeds.filter(({ url }) => !open.has(url));
  if (tagged.length === 0) return { version: '', isMasked: (): boolean => false };
  // A world that cannot be read is reported by the jobs that change packages.
  const entries = await readWorld(world).then(
    (found) => found.entries,
    (): WorldEntry[] => [],
  );
  return {
    version: entries.map(({ text }) => text).join(' '),
    isMasked: (name: string, feedUrl: string): boolean => {
      const tags = tagged.flatMap(({ url, tag }) => (url === feedUrl ? [tag] : []));
      if (tags.length === 0) return false;
      const own = entries.filter((entry) => entry.name === name);
      // A package that world does not name may be a dependency of one that it asks for by the tag.
      const asking = own.length === 0 ? entries : own;
      return !asking.some(({ tag }) => tags.includes(tag));
    },
  };
}
