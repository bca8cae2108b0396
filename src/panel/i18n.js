import { languageOf } from './language.js';
import { chinese } from './texts/zh-cn.js';
import { chineseSteps } from './texts/zh-cn-steps.js';

/** By the value of `<html lang>`. The texts in the sources are English. */
const TRANSLATIONS = { 'zh-CN': chinese };
const STEPS = { 'zh-CN': chineseSteps };

/** The language of the page, for Intl. */
export function language() {
  return document.documentElement.lang;
}

/**
 * A text in the language of the page; in English if it is not translated.
 * @param text English and literal, so that a test can find it, with names in braces for the values
 * @param values numbers and dates as Intl writes them
 */
export function t(text, values = {}) {
  return translate(text).replace(/\{(\w+)\}/g, (name, key) => values[key] ?? name);
}

/** The name of a task's step, which the daemon says in English. */
export function stepName(label) {
  return STEPS[language()]?.get(label) ?? label;
}

function translate(text) {
  return TRANSLATIONS[language()]?.get(text) ?? text;
}

/** Whoever embeds the page says in `lang` which language it speaks, else the browser does. */
export function setLanguage() {
  const wanted = new URLSearchParams(location.search).get('lang');
  document.documentElement.lang = languageOf(wanted === null ? navigator.languages : [wanted]);
  if (language() in TRANSLATIONS) translateMarkup();
}

const LABELS = ['aria-label', 'placeholder', 'title'];

function translateMarkup() {
  document.title = translate(document.title);
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { currentNode: node } = texts;
    const text = node.data.trim();
    if (text !== '') node.data = node.data.replace(text, () => translate(text));
  }
  for (const name of LABELS) {
    for (const element of document.querySelectorAll(`[${name}]`)) {
      element.setAttribute(name, translate(element.getAttribute(name)));
    }
  }
}
