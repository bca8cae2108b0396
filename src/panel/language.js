/** The languages of the page, and what tags of others name the same (BCP 47). */
const SPOKEN = [
  ['en', /^en\b/i],
  // Readers of traditional characters name `zh` in their list if these are fine for them, too.
  ['zh-CN', /^zh(?:$|-(?:hans|cn|sg|my)\b)/i],
];

/**
 * The first of these languages that the page speaks.
 * @param tags best first, as browsers (`zh-CN`) or LuCI (`zh-cn`, `zh_Hans`) write them
 * @returns a value for `<html lang>`; English if it speaks none of them
 */
export function languageOf(tags) {
  for (const tag of tags) {
    const found = SPOKEN.find(([, names]) => names.test(tag.replaceAll('_', '-')));
    if (found !== undefined) return found[0];
  }
  return 'en';
}
