import { byId, createRows, setText, textElement } from '../../dom.js';
import { t } from '../../i18n.js';
import { createLoader } from '../../loader.js';
import { count } from '../../words.js';
import { createAppCard } from './app-card.js';
import { createPaging } from './paging.js';

/** While somebody types, the list is not asked for at each key. */
const TYPING_MS = 180;
/** So many packages are lines and not cards. */
const MANY = 12;
const PER_PAGE = { app: 24, all: 48 };

/**
 * A list of apps or packages with a search field, a switch between the two, and pages.
 * @param prefix of the ids in the page's markup
 * @param context what the views share: `{ api, tasks, icons, on, report, apps }`
 * @param on `items` gets each page of them, and the kind; `empty` fills the element that is shown
 *   if there is nothing
 * @param isRemovable whether cards have a button to remove what they show
 */
export function createCatalogList({ prefix, query, context, isRemovable = false, ...on }) {
  const { api, icons, report, apps } = context;
  const find = (name) => byId(`${prefix}-${name}`);
  const [list, empty] = ['list', 'empty'].map(find);
  const showRows = createRows(list, {
    keyOf: ({ kind, name }) => `${kind} ${name}`,
    create: () => createAppCard({ icons, on: context.on, isRemovable }),
    fallback: find('title'),
  });
  let page = 1;
  let tag = '';
  let answer;

  const parameters = () => ({
    ...controls.parameters(),
    ...query(),
    ...(tag !== '' && { tag }),
    page: String(page),
  });
  const render = () => {
    if (answer === undefined) return;
    showRows(answer.items.map((item) => rowOf(item, context)));
  };
  const show = (received, { q = '', kind, programs } = parameters()) => {
    answer = received;
    apps.learn(received.items);
    render();
    paging.show(received);
    setText(find('count'), t('{count} found', { count: count(received.total) }));
    const isNone = isNothing(received, on);
    const isWider = !isNone && kind !== parameters().kind;
    empty.hidden = !isNone && !isWider;
    list.classList.toggle('is-list', kind !== 'app' && received.total > MANY);
    if (isNone) {
      const isProgramsOnly = programs !== undefined;
      on.empty(empty, { q, isProgramsOnly, suggestion: received.suggestion });
    } else if (isWider) {
      const text = t('No app matches “{q}”. These packages do:', { q });
      empty.replaceChildren(textElement('p', text));
    }
    on.items?.(received, kind);
  };
  const loader = createLoader({
    state: find('state'),
    load: async (signal) => {
      const [received, asked] = await searchOnce(api, parameters(), signal);
      if (signal.aborted) return;
      const pages = Math.ceil(received.total / received.per_page);
      // The last app of a page of the list may have gone.
      if (page > Math.max(1, pages)) void goTo(Math.max(1, pages));
      else show(received, asked);
    },
    onGone: report,
  });
  const goTo = (number) => {
    page = number;
    return loader.restart();
  };
  const paging = createPaging(prefix, {
    onPage: async (number) => {
      await goTo(number);
      find('title').scrollIntoView({ block: 'start' });
      find('title').focus({ preventScroll: true });
    },
  });
  const controls = createControls(find, () => void goTo(1));

  return {
    load: loader.load,
    render,
    setTag: (wanted) => {
      tag = wanted;
      return goTo(1);
    },
    /** Searches for other words, or in all packages. */
    search: (changes) => {
      controls.set(changes);
      return goTo(1);
    },
  };
}

/**
 * Words that no app has are looked for in all packages, as a person would at the next click.
 * @returns the answer, and what it was asked with
 */
async function searchOnce(api, asked, signal) {
  const get = (parameters) => api.get('admin/store/available', parameters, { signal });
  const received = await get(asked);
  const { kind, q, tag } = asked;
  const isWidened = kind === 'app' && q !== undefined && tag === undefined;
  if (!isWidened || received.total > 0) return [received, asked];
  const wider = { ...asked, kind: 'all', programs: '1', per_page: String(PER_PAGE.all) };
  return [{ ...(await get(wider)), suggestion: received.suggestion }, wider];
}

/**
 * The search field, the switch between apps and all packages, and of these the one for what is
 * there for others alone.
 */
function createControls(find, onChange) {
  const search = find('search');
  const others = find('others');
  let timer;
  const changeNow = () => {
    clearTimeout(timer);
    onChange();
  };
  search.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(onChange, TYPING_MS);
  });
  search.form.addEventListener('submit', (event) => {
    event.preventDefault();
    changeNow();
  });
  search.form.addEventListener('change', ({ target }) => {
    if (target !== search) changeNow();
  });
  return {
    set: ({ text = search.value, isAll = find('all').checked, withOthers = others.checked }) => {
      search.value = text;
      find('all').checked = isAll;
      others.checked = withOthers;
      search.focus();
    },
    parameters: () => {
      const kind = find('all').checked ? 'all' : 'app';
      find('others-box').hidden = kind === 'app';
      const q = search.value.trim();
      const isProgramsOnly = kind === 'all' && !others.checked;
      return {
        kind,
        ...(isProgramsOnly && { programs: '1' }),
        ...(q !== '' && { q }),
        per_page: String(PER_PAGE[kind]),
      };
    },
  };
}

/** An app's own package may have its name; it is the app that is opened. */
function rowOf(item, { tasks, apps }) {
  const isOpened = item.kind === 'app' && item.installed_version !== undefined;
  const entry = isOpened ? apps.entryOf(item.name) : undefined;
  return { ...item, task: tasks.busyWith(item.name), entry };
}

/** Without lists that is what is said of what feeds offer, and nothing else. */
function isNothing({ items, lists }, on) {
  return items.length === 0 && (on.items === undefined || lists?.state !== 'missing');
}
