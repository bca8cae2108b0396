export type Language = 'en' | 'zh-CN';

export function languageOf(tags: readonly string[]): Language;
