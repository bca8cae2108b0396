import { languageOf } from '../languages/language.js';
import { createSpeaker, fill } from '../languages/sentences.js';
import { keep, readKept } from './kept.js';

/** English, which the sources speak: no text has a translation. */
const ENGLISH = { page: {}, steps: {}, remedies: {}, sentences: {} };
let texts = ENGLISH;
let say = createSpeaker({});

/** @param given a file of src/languages; undefined: English */
export function useTexts(given = ENGLISH) {
  texts = given;
  say = createSpeaker(given.sentences);
}

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
  return fill(translationOf('page', text) ?? text, (name) => values[name]);
}

/** The name of a task's step, which the daemon says in English. */
export function stepName(label) {
  return translationOf('steps', label) ?? label;
}

/** What can be done about a problem of this code; undefined in English, which the daemon says. */
export function remedyOfCode(code) {
  return translationOf('remedies', code);
}

/** What the daemon says in English, in the language of the page as far as that is known. */
export function daemonText(text) {
  return say(text);
}

function translationOf(section, text) {
  return Object.hasOwn(texts[section], text) ? texts[section][text] : undefined;
}

/**
 * Whoever embeds the page says in `lang` which language it speaks, else the browser does. The file
 * of that language alone is loaded; if it cannot be, the page is in English.
 */
export async function setLanguage() {
  const wanted = new URLSearchParams(location.search).get('lang') ?? (readKept(KEPT) || null);
  const code = languageOf(wanted === null ? navigator.languages : [wanted], spoken());
  if (code === 'en') return;
  try {
    const answer = await fetch(`texts?lang=${code}`);
    if (!answer.ok) return;
    useTexts(await answer.json());
  } catch {
    return;
  }
  document.documentElement.lang = code;
  translateMarkup();
}

function spoken() {
  return JSON.parse(document.documentElement.dataset.languages);
}

/** Where the reader's choice is kept: the log-in page looks there, too. */
const KEPT = 'depotd-lang';

/** A choice of languages, each by its own name. */
export function fillLanguages() {
  const select = document.getElementById('language');
  const english = new Intl.DisplayNames('en', { type: 'language' }).of('en');
  const all = [{ code: 'en', name: english }, ...spoken()];
  select.append(...all.map(({ code, name }) => new Option(name, code, false, code === language())));
  select.addEventListener('change', () => {
    keep(KEPT, select.value);
    const query = new URLSearchParams(location.search);
    query.set('lang', select.value);
    location.search = query;
  });
}

const LABELS = ['aria-label', 'placeholder', 'title'];

function translateMarkup() {
  document.title = t(document.title);
  const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (words.nextNode()) {
    const { currentNode: node } = words;
    const text = node.data.trim();
    if (text !== '') node.data = node.data.replace(text, () => t(text));
  }
  for (const name of LABELS) {
    for (const labelled of document.querySelectorAll(`[${name}]`)) {
      labelled.setAttribute(name, t(labelled.getAttribute(name)));
    }
  }
}
