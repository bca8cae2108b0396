import { button, byId, element, setText, textElement } from '../dom.js';
import { t } from '../i18n.js';
import { createCatalogList } from './catalog/catalog-list.js';

/** What is installed: the apps and what else the owner has installed, or all packages. */
export function createInstalledView(context) {
  const order = byId('installed-order');
  const all = byId('installed-all');
  const list = createCatalogList({
    prefix: 'installed',
    context,
    query: () => ({
      state: 'installed',
      sort: order.value,
      ...(!all.checked && { kind: 'all', asked: '1' }),
    }),
    isRemovable: true,
    empty: (box, { q }) =>
      box.replaceChildren(...(q === '' ? nothingInstalled(all.checked, list) : nothingFound(q))),
  });
  setText(byId('installed-few'), t('Apps and yours'));
  return {
    show: (argument) => {
      // Who needs space looks for what frees most of it.
      if (argument === 'size') {
        order.value = 'size';
        all.checked = true;
      }
      return list.load();
    },
    load: list.load,
    render: list.render,
  };
}

function nothingInstalled(isAll, list) {
  const text = isAll ? t('No packages.') : t('Nothing yet. Discover has some apps to choose from.');
  return [
    textElement('p', text),
    element('div', { className: 'buttons' }, [
      element('a', { className: 'button primary', href: '#discover' }, [t('Discover')]),
      button({ text: t('Show all packages'), onclick: () => void list.search({ isAll: true }) }),
    ]),
  ];
}

function nothingFound(q) {
  return [textElement('p', t('Nothing matches “{q}”.', { q }))];
}
