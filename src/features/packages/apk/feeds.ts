import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FailedFeed, Feed } from '../package-manager.ts';

/** What the lists of feeds say, and what in them is none. */
export interface ConfiguredFeeds {
  feeds: readonly Feed[];
  /** Lines that apk passes over; the feed's name is the file and the line. */
  garbage: readonly FailedFeed[];
}

/**
 * Reads `repositories.d/*.list` as apk does (apk-repositories(5)): an address a line, with a
 * keyword or a tag before it. apk warns of a line that it does not know and goes on without the
 * feed, so that the owner finds packages gone.
 */
export async function readFeeds(folder: string): Promise<ConfiguredFeeds> {
  const files = (await readdir(folder).catch(() => []))
    .filter((name) => name.endsWith('.list') && !name.startsWith('.'))
    .sort();
  const feeds: Feed[] = [];
  const garbage: FailedFeed[] = [];
  for (const file of files) {
    const text = await readFile(join(folder, file), 'utf8').catch(() => '');
    text.split('\n').forEach((line, index) => {
      const entry = parseLine(line);
      if (entry === undefined) return;
      const name = `${file}:${index + 1}`;
      if ('url' in entry) feeds.push({ name, url: entry.url });
      else garbage.push({ feed: { name, url: line.trim().slice(0, 80) }, reason: entry.fault });
    });
  }
  return { feeds, garbage };
}

const KEYWORDS = ['ndx', 'v2', 'v3'];

/** @returns undefined for a line that says nothing */
function parseLine(line: string): { url: string } | { fault: string } | undefined {
  const words = line.trim().split(/\s+/);
  const [first = ''] = words;
  if (first === '' || first === 'set' || line.startsWith('#')) return undefined;
  if (!isAddress(first) && !isTag(first) && !KEYWORDS.includes(first)) {
    return { fault: `"${first.slice(0, 40)}" is no feed` };
  }
  const url = words.find((word) => !KEYWORDS.includes(word) && !isTag(word)) ?? '';
  return isAddress(url) ? { url } : { fault: 'it has no address' };
}

function isTag(word: string): boolean {
  return word.startsWith('@');
}

/** A variable may stand for the beginning of one. */
function isAddress(word: string): boolean {
  return word.startsWith('/') || word.includes('://') || word.startsWith('${');
}
