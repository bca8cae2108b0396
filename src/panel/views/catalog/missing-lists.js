import { button, textElement } from '../../dom.js';
import { t } from '../../i18n.js';

/**
 * Fills a box that says that nobody knows what the feeds have, with what helps; hidden while lists
 * are there.
 * @param lists of an answer of `available`
 */
export function showMissingLists(box, lists, { update }) {
  box.hidden = lists?.state !== 'missing';
  if (box.hidden || box.childElementCount > 0) return;
  box.replaceChildren(
    textElement('p', t('There are no package lists since the device was started.')),
    button({
      symbol: 'lists',
      text: t('Update lists'),
      onclick: update,
      className: 'primary',
      isWrite: true,
    }),
  );
}
