export interface SpokenLanguage {
  /** Code of a language: of the texts' file, and in `<html lang>`. */
  code: string;
  /** A pattern of the tags that name it. */
  tags: string;
}

export function languageOf(tags: readonly string[], spoken: readonly SpokenLanguage[]): string;
