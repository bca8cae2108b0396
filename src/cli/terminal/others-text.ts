/**
 * What a text may do to whoever reads it at a terminal: control characters of either kind (ECMA-48,
 * C0 and C1), which erase, write the clipboard or hide, and those that change the direction of what
 * stands around them (Unicode Standard Annex 9). Lines and tabs stay.
 */
const ACTIVE = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
const REPLACED = '\ufffd';

/** A text in which nothing acts: each such character is shown as one that stands for it. */
export function inert(text: string): string {
  return text.replace(ACTIVE, REPLACED);
}

/** What a program printed, made harmless: a progress bar goes back to the start of its line. */
export function inertOutput(text: string): string {
  return text.replace(ACTIVE, (character) => (character === '\r' ? character : REPLACED));
}

/** JSON that says the same and has nothing in it that acts. */
export function inertJson(value: unknown): string {
  return JSON.stringify(value).replace(
    ACTIVE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
