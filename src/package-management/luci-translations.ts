import { join } from 'node:path';
import { parseUciFile } from '../config/uci-file.ts';
import { readSmallFile } from '../device/owner-file.ts';
import { appOf, luciSubjectOf, TRANSLATION_PREFIX } from './names.ts';
import { isPresent, type PackageDatabase } from './database.ts';
import type { PackageTools } from './package-tools.ts';

/**
 * Translations of LuCI's applications are packages of their own, `luci-i18n-SUBJECT-LANGUAGE`, each
 * of which needs its application (luci.mk); `luci-i18n-base-LANGUAGE` brings the language itself.
 */
const BASE = `${TRANSLATION_PREFIX}base-`;
/** Largest file of LuCI's settings, which its owner edits by hand. */
const MOST_CONFIG_BYTES = 1024 ** 2;

/**
 * The translations that should come with an installation: for the panel's languages, those of
 * the applications among these packages and of those that an app of them brings; of a language that
 * comes anew, those of all applications that are there. Only what a feed offers and is not
 * installed.
 */
export async function translationsFor(
  { manager, uciDir }: PackageTools,
  names: readonly string[],
): Promise<string[]> {
  const database = await manager.installed();
  const languages = await panelLanguages(database, uciDir);
  const fresh = names.flatMap((name) => (name.startsWith(BASE) ? [name.slice(BASE.length)] : []));
  const wanted = new Set<string>();
  const want = (apps: readonly string[], of: readonly string[]): void => {
    for (const subject of apps.flatMap((name) => luciSubjectOf(name) ?? [])) {
      for (const language of of) wanted.add(`${TRANSLATION_PREFIX}${subject}-${language}`);
    }
  };
  const there = [...database.values()].filter(isPresent).map(({ name }) => name);
  want(there, fresh);
  const all = [...languages, ...fresh];
  if (all.length > 0) want([...names, ...(await broughtBy(manager, names))], all);
  const absent = [...wanted].filter((name) => !isPresent(database.get(name)));
  if (absent.length === 0) return [];
  const offers = await manager.offers(absent);
  return absent.filter((name) => offers.has(name) && !names.includes(name));
}

/** What the meta packages of apps among these names need: their applications of LuCI. */
async function broughtBy({ listing }: PackageTools['manager'], names: readonly string[]) {
  const metas = names.filter((name) => appOf(name).isApp);
  const found = new Set<string>();
  if (metas.length === 0) return [];
  for await (const { depends } of listing.read(metas)) {
    for (const name of depends.flat()) found.add(name);
  }
  return [...found];
}

/** LuCI's own setting, or, where browsers choose, each language that is installed. */
async function panelLanguages(database: PackageDatabase, uciDir: string): Promise<string[]> {
  const text = (await readSmallFile(join(uciDir, 'luci'), MOST_CONFIG_BYTES)) ?? '';
  const main = parseUciFile(text).sections.find(({ name }) => name === 'main');
  const set = main?.options.find(({ name }) => name === 'lang')?.value.toLowerCase();
  if (set !== undefined && set !== 'auto') {
    return /^[a-z]{2,3}(?:[_-][a-z]{2,4})?$/.test(set) ? [set.replace('_', '-')] : [];
  }
  return [...database.values()]
    .filter((entry) => isPresent(entry) && entry.name.startsWith(BASE))
    .map(({ name }) => name.slice(BASE.length));
}
