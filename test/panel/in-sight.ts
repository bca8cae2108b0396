import { expect } from 'vitest';

import type { Browser } from './browser.ts';

/** English words in a row in sight, but for what packages say, and for commands and addresses. */
const ENGLISH = `[...document.querySelectorAll('body :not(script, style, noscript *)')]
  .filter((element) => element.checkVisibility() && !element.closest('.description, .lead, .pane, #language'))
  .flatMap((element) => [
    ...[...element.childNodes].filter(({ nodeType }) => nodeType === 3).map(({ data }) => data),
    element.placeholder, element.title, element.getAttribute('aria-label'),
  ])
  .map((text) => (text ?? '').replace(/\`[^\`]*\`|"[^"]*"|\\S+ test package|opkg (?:install|remove)/g, ''))
  .filter((text) => /[a-z]{2,} [a-z]{2,}/i.test(text))`;
/** What is wider than its room. */
const CUT = `[...document.querySelectorAll('dialog[open], dialog[open] *, main *, #notices *')]
  .filter((each) => each.checkVisibility() && !each.closest('.unseen') && each.matches('dialog, button, h2, p, label, summary, dt, dd, .chip'))
  .filter((each) => each.scrollWidth > each.clientWidth + 1 && getComputedStyle(each).display !== 'inline')
  .map((each) => each.outerHTML.slice(0, 100))`;

/** Nothing in sight is English, and nothing is cut in a window that is 320 pixels wide. */
export async function expectInLanguage(
  browser: Browser,
  where: string,
  isEnglish = false,
): Promise<void> {
  const wide = 'document.documentElement.scrollWidth';
  const found = await browser.evaluate(`[${isEnglish ? '[]' : ENGLISH}, ${CUT}, ${wide}]`);
  expect([where, found]).toEqual([where, [[], [], 320]]);
}
