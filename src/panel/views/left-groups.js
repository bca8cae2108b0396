import { element, setText } from '../dom.js';
import { t } from '../i18n.js';
import { problemBox } from '../problems.js';
import { count } from '../words.js';

const META = 'app-meta-';
/** More rows than this are behind a click; why they are left is always said. */
const MANY = 12;

const SENTENCES = {
  firmware: (number) =>
    number === 1
      ? t('1 belongs to the firmware: it comes with the next firmware.')
      : t('{count} belong to the firmware: they come with the next firmware.', {
          count: count(number),
        }),
  held: (number) =>
    number === 1
      ? t('1 is held at its version.')
      : t('{count} are held at their versions.', { count: count(number) }),
  feed: (number) =>
    number === 1
      ? t('1 is of a feed that is set to give no upgrades.')
      : t('{count} are of feeds that are set to give no upgrades.', { count: count(number) }),
  problem: (number) =>
    number === 1
      ? t('1 cannot be upgraded.')
      : t('{count} cannot be upgraded.', { count: count(number) }),
};

/**
 * What has a newer version and is not upgraded with everything else, by the reason.
 * @param createRows makes what shows items in a list
 */
export function createLeftGroups(box, createRows) {
  const groups = Object.keys(SENTENCES).map((reason) => createGroup(reason, createRows));
  box.append(...groups.map((group) => group.element));
  return (items, plan) => {
    const reasons = new Map((plan?.left ?? []).map(({ name, reason }) => [name, reason]));
    // An app may have nothing newer of its own: what it needs is listed beside it.
    const other = plan?.problems.length > 0 ? 'problem' : '';
    const reasonOf = ({ name }) => reasons.get(name) ?? reasons.get(`${META}${name}`) ?? other;
    for (const { reason, update } of groups) {
      update(
        items.filter((item) => reasonOf(item) === reason),
        reason === 'problem' ? (plan?.problems ?? []) : [],
      );
    }
  };
}

function createGroup(reason, createRows) {
  const sentence = element('summary');
  const boxes = element('div', { className: 'problems' });
  const list = element('ul', { className: 'rows' });
  const card = element('details', { className: 'card' }, [sentence, boxes, list]);
  const show = createRows(list);
  let shown = -1;
  const update = (items, problems) => {
    card.hidden = items.length === 0;
    setText(sentence, SENTENCES[reason](items.length));
    if (shown !== items.length) card.open = items.length <= MANY;
    shown = items.length;
    boxes.replaceChildren(...problems.map((problem) => problemBox(problem, {})));
    boxes.hidden = problems.length === 0;
    show(items);
  };
  return { reason, element: card, update };
}
