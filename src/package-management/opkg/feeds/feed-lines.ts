import { EXAMPLE, type Feed, type FeedChange } from '../../feed-settings.ts';

/** A line that names a feed; one that is commented out stands for a feed that is switched off. */
export interface FeedLine extends Feed {
  isEnabled: boolean;
  isGzip: boolean;
}

/** The words that a line of opkg's configuration may begin with (opkg_conf.c). */
const WORDS = ['src', 'src/gz', 'dest', 'lists_dir', 'arch', 'option'];

type Line = FeedLine | { fault: string };

/** @returns undefined for a line that says nothing of feeds */
export function parseFeedLine(line: string): Line | undefined {
  const [, mark = '', rest = ''] = /^\s*(#*)\s*(.*?)\s*$/.exec(line) ?? [];
  const words = wordsOf(rest);
  return mark === '' ? parseActive(words) : parseComment(words);
}

function parseActive([type, name, url]: readonly string[]): Line | undefined {
  if (type === undefined) return undefined;
  if (!WORDS.includes(type)) return { fault: `opkg knows no "${type.slice(0, 40)}"` };
  if (!isFeed(type)) return undefined;
  if (name === undefined || url === undefined) return { fault: 'it has no address' };
  return { name, url, isEnabled: true, isGzip: type === 'src/gz' };
}

/** Not every comment that begins so is one: it has three words, and the last is an address. */
function parseComment([type = '', name, url, ...more]: readonly string[]): Line | undefined {
  if (!isFeed(type) || name === undefined || url === undefined || more.length > 0) return undefined;
  return url.includes('://') && !EXAMPLE.test(url)
    ? { name, url, isEnabled: false, isGzip: type === 'src/gz' }
    : undefined;
}

export function isFeed(type: string): boolean {
  return type === 'src' || type === 'src/gz';
}

/** Split at white space, or held together by double quotes. */
export function wordsOf(text: string): string[] {
  return Array.from(text.matchAll(/"([^"]*)"|(\S+)/g), ([, quoted, bare]) => quoted ?? bare ?? '');
}

/** The text after a change; the same text if it is so already. All other lines stay. */
export function editFeedLines(text: string, change: FeedChange): string {
  if (change.verb === 'add') return withLine(text, change.feed);
  const lines = text.split('\n');
  const meant = linesMeant(lines, change.name);
  const isMeant = (index: number): boolean => meant.includes(index);
  if (change.verb === 'remove') return lines.filter((_, index) => !isMeant(index)).join('\n');
  return lines
    .map((line, index) => (isMeant(index) ? switched(line, change.isEnabled) : line))
    .join('\n');
}

/** Lines that are active; if none is, the last comment: the others are their owner's notes. */
function linesMeant(lines: readonly string[], name: string): number[] {
  const found = linesOf(lines, name);
  const active = found.filter(({ isEnabled }) => isEnabled);
  return (active.length > 0 ? active : found.slice(-1)).map(({ index }) => index);
}

function linesOf(lines: readonly string[], name: string) {
  return lines.flatMap((line, index) => {
    const entry = parseFeedLine(line);
    return entry !== undefined && 'name' in entry && entry.name === name
      ? [{ index, isEnabled: entry.isEnabled }]
      : [];
  });
}

function withLine(text: string, { name, url }: Feed): string {
  if (linesOf(text.split('\n'), name).some(({ isEnabled }) => isEnabled)) return text;
  const end = text === '' || text.endsWith('\n') ? '' : '\n';
  return `${text}${end}src/gz ${name} ${url}\n`;
}

function switched(line: string, isEnabled: boolean): string {
  const plain = line.replace(/^\s*#+\s*/, '');
  if (isEnabled) return plain;
  return /^\s*#/.test(line) ? line : `# ${line}`;
}
