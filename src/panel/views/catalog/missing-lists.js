import { button, textElement } from '../../dom.js';
import { t } from '../../i18n.js';

/**
 * Fills a box that says of which feeds nobody knows what they have, with what helps; hidden while
 * the lists of all are there.
 * @param lists of an answer of `available`
 */
export function showMissingLists(box, lists, { update }) {
  const isNone = lists?.state === 'missing';
  const names = isNone ? [] : (lists?.missing ?? []);
  box.hidden = !isNone && names.length === 0;
  const shown = names.join(' ');
  if (box.hidden || (box.childElementCount > 0 && box.dataset.shown === shown)) return;
  box.dataset.shown = shown;
  const text = isNone
    ? t('There are no package lists since the device was started.')
    : t('No package list came of these feeds: {names}. What they offer is not known.', {
        names: names.join(', '),
      });
  box.replaceChildren(
    textElement('p', text),
    button({
      symbol: 'lists',
      text: t('Update lists'),
      onclick: update,
      className: isNone ? 'primary' : '',
      isWrite: true,
    }),
  );
}
