import { inert } from './others-text.ts';

/** Select Graphic Rendition (ECMA-48, section 8.3.117). */
const SHADES = { good: 32, bad: 31, warning: 33, strong: 1, faint: 2 } as const;

export type Shade = keyof typeof SHADES;

/** Colours a text, or leaves it as it is. */
export type Paint = (text: string, shade: Shade | undefined) => string;

/** @param isColoured false if nobody sees colours, or wants none (no-color.org) */
export function createPaint(isColoured: boolean): Paint {
  return (text, shade) =>
    !isColoured || shade === undefined || text === ''
      ? text
      : `\x1b[${SHADES[shade]}m${text}\x1b[0m`;
}

const SHADE = new RegExp(`(\\x1b\\[(?:0|${Object.values(SHADES).join('|')})m)`);

/** The text with nothing in it that acts but these shades. */
export function inertBetweenShades(text: string): string {
  return text
    .split(SHADE)
    .map((piece, index) => (index % 2 === 1 ? piece : inert(piece)))
    .join('');
}

const STATES: Readonly<Record<string, Shade>> = {
  done: 'good',
  ok: 'good',
  running: 'strong',
  queued: 'faint',
  skipped: 'faint',
  failed: 'bad',
  error: 'bad',
  interrupted: 'bad',
  stopped: 'warning',
  warning: 'warning',
  upgradable: 'warning',
  installed: 'good',
};

/** The shade of a state's word; undefined for any other text. */
export function shadeOf(word: string): Shade | undefined {
  return Object.hasOwn(STATES, word) ? STATES[word] : undefined;
}
