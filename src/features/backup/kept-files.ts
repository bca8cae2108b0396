import { createHash } from 'node:crypto';
import { lstat, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readSmallBytes } from '../../device/owner-file.ts';
import type { Paths } from '../../device/paths.ts';
import { orElse } from '../../errors.ts';
import { MANAGER_FILES } from './manager-files.ts';
import { isSetPath, MOST_CONFIGURATION_BYTES } from './manifest.ts';

/**
 * The configuration that sysupgrade keeps, found as it finds it (base-files, /sbin/sysupgrade):
 * what `/lib/upgrade/keep.d/*` and `/etc/sysupgrade.conf` name, and configuration files that
 * packages brought and were changed. Paths are the device's, sorted; plain files alone.
 */
export async function keptFiles(paths: Paths): Promise<string[]> {
  const found = new Set<string>();
  for (const word of await keptWords(paths)) {
    for (const path of await expand(paths, word)) await addFiles(paths, path, found);
  }
  for (const path of await changedConfiguration(paths)) await addFiles(paths, path, found);
  return [...found].filter((path) => !NOT_KEPT.test(path)).sort();
}

/** What a set leaves out: of this very device, of package managers' databases, or short-lived. */
export const NOT_KEPT = new RegExp(
  '^/(?:etc/board[.]json$|(?:proc|sys|dev|tmp|var|run|rom|overlay)(?:/|$)' +
    `|${MANAGER_FILES.map(({ database }) => database).join('|')})`,
);

const MOST_BYTES = 1024 ** 2;
const MOST_FILES = 5000;

async function keptWords({ onDevice }: Paths): Promise<string[]> {
  const folder = onDevice('/lib/upgrade/keep.d');
  const names = (await readdir(folder).catch(() => [])).sort();
  const files = [onDevice('/etc/sysupgrade.conf'), ...names.map((name) => join(folder, name))];
  const texts = await Promise.all(files.map((file) => readSmallBytes(file, MOST_BYTES)));
  return texts
    .flatMap((text) => (text ?? '').toString().split('\n'))
    .filter((line) => !line.startsWith('#'))
    .flatMap((line) => line.split(/\s+/))
    .filter((word) => word.startsWith('/'));
}

/** A shell's patterns, as the lines are words of a command there. */
async function expand({ onDevice }: Paths, word: string): Promise<string[]> {
  let found = [''];
  for (const part of word.split('/').filter((each) => each !== '' && each !== '.')) {
    if (part === '..') return [];
    if (!/[*?[]/.test(part)) {
      found = found.map((path) => `${path}/${part}`);
      continue;
    }
    const pattern = patternOf(part);
    const next: string[] = [];
    for (const path of found) {
      const names = await readdir(onDevice(path)).catch(() => []);
      const meant = names.filter((name) => pattern?.test(name) === true && !name.startsWith('.'));
      next.push(...meant.map((name) => `${path}/${name}`));
    }
    found = next;
  }
  return found.filter((path) => path !== '');
}

/** Of one name, whose files have 255 bytes at most. */
const MOST_PATTERN = 1024;
/** Letters in brackets, stars, or any other letter. */
const TOKEN = /\[[!^]?\]?[^\]]*\]|\*+|[^]/g;
/** Stands for stars: a name has none. */
const STAR = '/';

/**
 * What stands between two stars is looked for once, where it comes first: a name may be made to
 * have a pattern of many stars tried in all ways there are.
 * @returns undefined for what is none, such as a range the wrong way round: it means no file
 */
function patternOf(part: string): RegExp | undefined {
  if (part.length > MOST_PATTERN) return undefined;
  const [first = '', ...others] = part.replace(TOKEN, expressionOf).split(STAR);
  const last = others.pop();
  const between = others.map((text, index) => `(?=(.*?${text}))\\${index + 1}`).join('');
  const end = last === undefined ? '' : `.*${last}`;
  return orElse(() => new RegExp(`^${first}${between}${end}$`, 's'), undefined);
}

function expressionOf(token: string): string {
  if (token === '?') return '.';
  if (token.startsWith('*')) return STAR;
  const [, not, inside] = /^\[([!^]?)(.+)\]$/s.exec(token) ?? [];
  if (inside === undefined) return token.replace(/[.+^${}()|\\[\]]/, String.raw`\$&`);
  return `[${not === '' ? '' : '^'}${inside.replace(/[\\[\]^]/g, String.raw`\$&`)}]`;
}

/** A file, or all files below a folder; links are neither followed nor kept. */
async function addFiles(paths: Paths, path: string, found: Set<string>): Promise<void> {
  if (found.size >= MOST_FILES || NOT_KEPT.test(path)) return;
  const entry = await lstat(paths.onDevice(path)).catch(() => undefined);
  if (entry?.isFile() === true && isSetPath(path)) found.add(path);
  if (entry?.isDirectory() !== true) return;
  for (const name of await readdir(paths.onDevice(path)).catch(() => [])) {
    await addFiles(paths, `${path}/${name}`, found);
  }
}

/** Packages' configuration files whose content is another than the package brought. */
async function changedConfiguration(paths: Paths): Promise<string[]> {
  const changed: string[] = [];
  for (const [path, sum] of await configurationSums(paths)) {
    const file = paths.onDevice(path);
    const { size = 0 } = (await stat(file).catch(() => undefined)) ?? {};
    // No package brings one of that size.
    const isLarger = size > MOST_CONFIGURATION_BYTES;
    const content = await readSmallBytes(file, MOST_CONFIGURATION_BYTES);
    const kind = sum.length === 32 ? 'md5' : 'sha256';
    const isOther = content && createHash(kind).update(content).digest('hex') !== sum;
    if (isLarger || isOther === true) changed.push(path);
  }
  return changed;
}

/** From opkg's status file, or apk's `NAME.conffiles_static`, whichever there is. */
export async function configurationSums({ onDevice }: Paths): Promise<Map<string, string>> {
  const status = await readFile(onDevice('/usr/lib/opkg/status'), 'utf8').catch(() => '');
  const folder = onDevice('/lib/apk/packages');
  const isList = (name: string): boolean => name.endsWith('.conffiles_static');
  const names = (await readdir(folder).catch(() => [])).filter(isList);
  const reading = names.map((name) => readSmallBytes(join(folder, name), MOST_BYTES));
  const lists = await Promise.all(reading);
  const lines = [status, ...lists.map((text) => (text ?? '').toString())].join('\n');
  const found = lines.matchAll(/^ ?(\/[^\s]+) ([0-9a-f]{32}|[0-9a-f]{64})$/gm);
  return new Map(Array.from(found, ([, path = '', sum = '']) => [path, sum] as const));
}
