import { button, byId, element, textElement } from '../dom.js';
import { t } from '../i18n.js';
import { createCatalogList } from './catalog/catalog-list.js';
import { tagWord } from './catalog/item-words.js';
import { showMissingLists } from './catalog/missing-lists.js';

const MOST_TAGS = 12;

/** What the feeds offer. */
export function createDiscoverView(context) {
  const tags = createTags({ onChoose: (tag) => void list.setTag(tag) });
  const list = createCatalogList({
    prefix: 'discover',
    context,
    query: () => ({}),
    items: ({ items, lists }, kind) => {
      tags.add(kind === 'app' ? items : []);
      showMissingLists(byId('discover-lists'), lists, context.on);
    },
    empty: (box, { q, isProgramsOnly, suggestion }) =>
      box.replaceChildren(
        ...(q === ''
          ? nothingThere(context.on)
          : nothingFound({ q, isProgramsOnly, suggestion, on: context.on, list })),
      ),
  });
  return {
    show: () => list.load(),
    load: list.load,
    render: list.render,
  };
}

function nothingThere({ update }) {
  return [
    textElement('p', t('The package lists offer nothing here yet.')),
    button({ symbol: 'lists', text: t('Update lists'), onclick: update, isWrite: true }),
  ];
}

function nothingFound({ q, isProgramsOnly, suggestion, on, list }) {
  const searchOthers = () => void list.search({ isAll: true, withOthers: true });
  return [
    textElement('p', t('Nothing matches “{q}”.', { q })),
    element('div', { className: 'buttons' }, [
      ...(suggestion === undefined ? [] : [suggestionButton(suggestion, list)]),
      ...(isProgramsOnly
        ? [button({ text: t('Search libraries and modules, too'), onclick: searchOthers })]
        : []),
      button({ text: t('Update lists'), onclick: on.update, isWrite: true }),
    ]),
  ];
}

/** Searches for words that are spelled like those that were typed. */
function suggestionButton(suggestion, list) {
  return button({
    text: t('Did you mean “{q}”?', { q: suggestion }),
    className: 'primary',
    onclick: () => void list.search({ text: suggestion }),
  });
}

/** The tags of the apps that were shown so far, the most frequent first; one can be chosen. */
function createTags({ onChoose }) {
  const box = byId('discover-tags');
  const apps = new Map();
  let chosen = '';

  const choose = (tag) => {
    chosen = chosen === tag ? '' : tag;
    mark();
    onChoose(chosen);
  };
  const mark = () => {
    for (const each of box.children) {
      each.setAttribute('aria-pressed', String(each.dataset.tag === chosen));
    }
  };
  const ranked = () => {
    const counts = new Map();
    for (const tag of [...apps.values()].flat()) counts.set(tag, (counts.get(tag) ?? 0) + 1);
    const sorted = [...counts].sort(([one, many], [other, more]) =>
      more === many ? one.localeCompare(other) : more - many,
    );
    return sorted.slice(0, MOST_TAGS).map(([tag]) => tag);
  };
  return {
    add: (items) => {
      for (const { name, tags = [], broken } of items) apps.set(name, broken === true ? [] : tags);
      const names = ranked();
      box.hidden = names.length === 0;
      if (box.dataset.shown === names.join()) return;
      // A card that has the focus stays in its place.
      if (box.contains(document.activeElement)) return;
      box.dataset.shown = names.join();
      box.replaceChildren(
        ...names.map((tag) =>
          button({
            text: tagWord(tag),
            className: 'tag-choice',
            onclick: () => choose(tag),
            dataset: { tag },
          }),
        ),
      );
      mark();
    },
  };
}
