import { button, textElement } from '../../dom.js';
import { t } from '../../i18n.js';

/**
 * Fills a box that says of which feeds nobody knows what they have, with what helps; hidden while
 * the lists of all are there.
 * @param lists of an answer of `available`
 */
export function showMissingLists(box, lists, { update, remedies }) {
  const isNone = lists?.state === 'missing';
  const names = isNone ? [] : (lists?.missing ?? []);
  box.hidden = !isNone && names.length === 0;
  const shown = names.join(' ');
  if (box.hidden || (box.childElementCount > 0 && box.dataset.shown === shown)) return;
  box.dataset.shown = shown;
  box.className = isNone ? 'state' : 'note buttons';
  box.replaceChildren(...(isNone ? nothingKnown(update) : someMissing(names, remedies)));
}

function nothingKnown(update) {
  return [
    textElement('p', t('There are no package lists since the device was started.')),
    button({
      symbol: 'lists',
      text: t('Update lists'),
      onclick: update,
      className: 'primary',
      isWrite: true,
    }),
  ];
}

function someMissing(names, { feeds }) {
  const text = t('No package list came of these feeds: {names}. What they offer is not known.', {
    names: names.join(', '),
  });
  return [
    textElement('span', text),
    button({ text: t('Show the feeds'), onclick: feeds, className: 'plain' }),
  ];
}
