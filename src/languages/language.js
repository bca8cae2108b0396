/**
 * The first of these languages that is spoken here; the sources speak English.
 * @param tags best first, as browsers (`zh-CN`), LuCI (`zh_Hans`) or a shell write them
 * @param spoken code of each language, and a pattern of the tags that name it (BCP 47)
 * @returns a value for `<html lang>`; English if none of them is spoken
 */
export function languageOf(tags, spoken) {
  const languages = [{ code: 'en', tags: '^en\\b' }, ...spoken];
  for (const tag of tags) {
    const found = languages.find((one) => new RegExp(one.tags, 'i').test(tag.replaceAll('_', '-')));
    if (found !== undefined) return found.code;
  }
  return 'en';
}
