import { button, element, textElement } from './dom.js';
import { daemonText, remedyOfCode, t } from './i18n.js';

const HEADINGS = {
  not_found: () => t('Not found'),
  dependency_missing: () => t('Something it needs is missing'),
  dependency_conflict: () => t('Packages exclude each other'),
  file_conflict: () => t('A file belongs to another package'),
  no_space: () => t('Not enough space'),
  wrong_architecture: () => t('Made for another architecture'),
  kernel_mismatch: () => t('Made for another kernel'),
  needed_by: () => t('Something else needs it'),
  essential: () => t('The device needs it'),
  no_lists: () => t('No package lists'),
  download_failed: () => t('The download failed'),
  checksum: () => t('The checksum does not match'),
  signature: () => t('The signature cannot be verified'),
  damaged_package: () => t('The package is damaged'),
  script_failed: () => t('A script of the package failed'),
  locked: () => t('Another program is changing packages'),
  damaged_database: () => t('The package database is damaged'),
  held: () => t('It is held at its version'),
  not_allowed: () => t('Not allowed'),
  stopped: () => t('It was stopped'),
  interrupted: () => t('It was interrupted'),
};

/** What a problem is in a few words; empty if there is no more to say than its own sentence. */
export function headingOf(code) {
  return Object.hasOwn(HEADINGS, code) ? HEADINGS[code]() : '';
}

/** The daemon says it in English: one text for each code, and some that fit better. */
export function remedyOf({ code, package: name, remedy = '' }) {
  const advice = daemonText(remedy);
  const translation = remedyOfCode(code);
  if (advice !== remedy || translation === undefined) return advice;
  return translation.replace('{package}', () => name ?? t('this package'));
}

/** What can be done about a problem from here: the name of an action, by code. */
const ACTIONS = {
  no_space: ['free'],
  not_found: ['update'],
  no_lists: ['update', 'feeds'],
  dependency_missing: ['update', 'feeds'],
  wrong_architecture: ['feeds'],
  kernel_mismatch: ['feeds'],
  download_failed: ['update', 'retry'],
  checksum: ['update', 'retry'],
  signature: ['feeds'],
  damaged_package: ['update', 'retry'],
  held: ['release'],
  locked: ['retry'],
  damaged_database: ['doctor'],
  stopped: ['retry'],
  interrupted: ['retry'],
};

const ACTION_TEXTS = {
  free: () => t('Show what can be removed'),
  update: () => t('Update lists'),
  feeds: () => t('Show the feeds'),
  doctor: () => t('Check the device'),
  release: () => t('Let it be upgraded'),
  retry: () => t('Try again'),
};
const WRITES = ['update', 'retry', 'release'];

/**
 * Buttons that lead on from a problem.
 * @param on functions by the name of the action, which get the problem; no button without one
 */
export function remedyButtons(problem, on) {
  return (ACTIONS[problem.code] ?? [])
    .filter((name) => on[name] !== undefined && (name !== 'release' || problem.package))
    .map((name) =>
      button({
        text: ACTION_TEXTS[name](),
        onclick: () => on[name](problem),
        isWrite: WRITES.includes(name),
      }),
    );
}

const HEAD = /^cannot (?:(?:install|remove|update|upgrade)(?: \S+)?|undo [^:]*): /;

/** What could not be done stands above it, or before: it goes when the whole has been said. */
export function causeOf(message) {
  const [head] = HEAD.exec(message) ?? [''];
  const said = daemonText(message);
  const ahead = daemonText(`${head}1`).slice(0, -1);
  return withoutId(said.startsWith(ahead) ? said.slice(ahead.length) : said);
}

/** A task is known by what it does. */
export function withoutId(text) {
  return text.replace(/ ?\b[0-9a-f]{32} ?[(\uff08]([^)\uff09]*)[)\uff09]/g, ' “$1”');
}

/**
 * A problem as people read it: what it is, the cause, the remedy, and what leads on.
 * @param more elements below the remedy
 */
export function problemBox(problem, on, more = []) {
  const heading = headingOf(problem.code);
  const buttons = remedyButtons(problem, on);
  return element('div', { className: 'problem-box' }, [
    ...(heading === '' ? [] : [textElement('p', heading, 'problem-heading')]),
    textElement('p', causeOf(problem.message), 'problem-cause'),
    ...(remedyOf(problem) === '' ? [] : [textElement('p', remedyOf(problem), 'problem-remedy')]),
    ...more,
    ...(buttons.length === 0 ? [] : [element('div', { className: 'buttons' }, buttons)]),
  ]);
}
