import { button, element, icon, setHidden, setText, textElement } from '../../dom.js';
import { t } from '../../i18n.js';
import { detailsAddress } from '../../router.js';
import { busyWord } from '../../words.js';
import { descriptionOf, factsOf, isLeftToFirmware, tagWord, titleOf } from './item-words.js';

/** So many tags are shown on a card; the app's own view has all. */
const FEW_TAGS = 3;

/**
 * One app or package, with what can be done about it. The whole card leads to its own view.
 * @param icons pictures
 * @param on what is done: `install`, `upgrade`, `remove`, `showTask`, each with the item
 * @param isRemovable whether there is a button to remove it
 */
export function createAppCard({ icons, on, isRemovable = false }) {
  let shown;
  const letter = icons.create();
  const link = element('a', { className: 'card-link' });
  const facts = element('p', { className: 'version' });
  const description = element('p', { className: 'description' });
  const tags = element('ul', { className: 'tags', 'aria-label': t('Tags') });
  const isThere = element('span', { className: 'chip', dataset: { state: 'done' } }, [
    t('Installed'),
  ]);
  const open = openLink();
  const elsewhere = textElement('span', t('Open it in LuCI'), 'note');
  const install = button({
    text: t('Install'),
    className: 'primary',
    onclick: () => on.install(shown),
    isWrite: true,
  });
  const upgrade = button({
    symbol: 'up',
    text: t('Upgrade'),
    onclick: () => on.upgrade(shown),
    isWrite: true,
  });
  const remove = button({
    symbol: 'bin',
    className: 'danger-text only-icon',
    onclick: () => on.remove(shown),
    isWrite: true,
  });
  const busy = button({ className: 'busy', onclick: () => on.showTask(shown.task.id) });
  busy.hidden = true;
  const others = [upgrade, install, remove, busy];
  const card = element('li', { className: 'app card' }, [
    letter,
    element('div', { className: 'about' }, [element('h3', {}, [link]), facts]),
    description,
    element('div', { className: 'foot' }, [
      tags,
      element('div', { className: 'buttons' }, [isThere, elsewhere, open, ...others]),
    ]),
  ]);

  const showEntry = (entry) => {
    setHidden(open, !entry, link);
    if (entry) open.href = entry;
    elsewhere.hidden = entry !== '';
  };
  const showButtons = (item) => {
    const { isBusy, isInstalled, isWaiting } = stateOf(item);
    const canGo = isInstalled && isRemovable && item.is_system !== true;
    if (isBusy) setText(busy, busyWord(item.task));
    if (isBusy) busy.hidden = false;
    showEntry(item.entry);
    const next = isBusy ? busy : link;
    setHidden(install, isBusy || isInstalled, next);
    setHidden(upgrade, isBusy || !isWaiting, next);
    setHidden(remove, isBusy || !canGo, next);
    isThere.hidden = isRemovable || !isInstalled || [upgrade, open, elsewhere, busy].some(isShown);
    // A task that has ended leaves the focus with what can be done next.
    if (!isBusy) setHidden(busy, true, [open, install, link].find(isShown));
  };
  const update = (item) => {
    shown = item;
    const names = { app: titleOf(item) };
    icons.show(letter, item);
    setText(link, titleOf(item));
    link.href = detailsAddress(item);
    setText(facts, factsOf(item));
    setText(description, descriptionOf(item));
    showTags(tags, item);
    open.setAttribute('aria-label', t('Open {app}', names));
    install.setAttribute('aria-label', t('Install {subject}', { subject: names.app }));
    upgrade.setAttribute('aria-label', t('Upgrade {app}', names));
    remove.setAttribute('aria-label', t('Remove {app}', names));
    showButtons(item);
  };
  return { element: card, update };
}

/** Leads to an app's own page. */
export function openLink(href = '') {
  const properties = { className: 'button primary', href, target: '_blank', rel: 'noopener' };
  return element('a', properties, [icon('open'), t('Open')]);
}

function stateOf(item) {
  return {
    isBusy: item.task !== undefined,
    isInstalled: item.installed_version !== undefined,
    isWaiting: item.is_upgradable && item.is_held !== true && !isLeftToFirmware(item),
  };
}

function isShown(target) {
  return !target.hidden;
}

function showTags(list, { tags = [], broken }) {
  const few = tags.slice(0, FEW_TAGS);
  list.hidden = few.length === 0;
  list.dataset.tone = broken === true ? 'bad' : '';
  if (list.dataset.shown === few.join()) return;
  list.dataset.shown = few.join();
  list.replaceChildren(...few.map((tag) => textElement('li', tagWord(tag))));
}
