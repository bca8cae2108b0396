import { languageOf } from '../../languages/language.js';
import { LANGUAGES } from '../../languages/languages.ts';

/** Of the log-in page: what the query's `lang` says, else what the browser prefers. */
export function pageLanguage({ url, headers }: Request): string {
  const wanted = new URL(url).searchParams.get('lang');
  return languageOf(
    wanted === null ? preferredLanguages(headers.get('accept-language') ?? '') : [wanted],
    LANGUAGES,
  );
}

/** Best first (RFC 9110, section 12.5.4). */
function preferredLanguages(header: string): string[] {
  const ranges = header.split(',').map((range) => {
    const [tag = '', weight] = range.split(/;\s*q=/i);
    return { tag: tag.trim(), weight: Number(weight ?? 1) };
  });
  return ranges
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => other.weight - one.weight)
    .map(({ tag }) => tag);
}
