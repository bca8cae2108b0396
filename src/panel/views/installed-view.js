import { button, byId, element, textElement } from '../dom.js';
import { t } from '../i18n.js';
import { createCatalogList } from './catalog/catalog-list.js';

/** What is installed: the apps, or all packages. */
export function createInstalledView(context) {
  const order = byId('installed-order');
  const list = createCatalogList({
    prefix: 'installed',
    context,
    query: () => ({ state: 'installed', sort: order.value }),
    isRemovable: true,
    empty: (box, { q, kind }) =>
      box.replaceChildren(...(q === '' ? nothingInstalled(kind, list) : nothingFound(q))),
  });
  return {
    show: (argument) => {
      // Who needs space looks for what frees most of it.
      if (argument === 'size') {
        order.value = 'size';
        byId('installed-all').checked = true;
      }
      return list.load();
    },
    load: list.load,
    render: list.render,
  };
}

function nothingInstalled(kind, list) {
  return [
    textElement(
      'p',
      kind === 'app' ? t('No apps yet. Discover has some to choose from.') : t('No packages.'),
    ),
    element('div', { className: 'buttons' }, [
      element('a', { className: 'button primary', href: '#discover' }, [t('Discover')]),
      button({ text: t('Show all packages'), onclick: () => void list.search({ isAll: true }) }),
    ]),
  ];
}

function nothingFound(q) {
  return [textElement('p', t('Nothing matches “{q}”.', { q }))];
}
