import { button, byId, element, factRows, setText, textElement } from '../dom.js';
import { t } from '../i18n.js';
import { createLoader } from '../loader.js';
import { detailsAddress, detailsQuery } from '../router.js';
import { busyWord, count, dayAndMinute, packageCount, size } from '../words.js';
import { openLink } from './catalog/app-card.js';
import {
  bytesOf,
  descriptionOf,
  isLeftToFirmware,
  tagWord,
  titleOf,
  versionWords,
} from './catalog/item-words.js';
import { stopsIn } from './dialogs/plan-content.js';

/** More names than this are behind a click. */
const MANY = 12;

/** All about one app or package. */
export function createDetailsView({ api, tasks, icons, on, report, apps }) {
  const title = byId('app-title');
  const body = byId('app-body');
  const buttons = byId('app-buttons');
  const letter = icons.create();
  byId('app-icon').replaceChildren(letter);
  let query = { package: '' };
  let shown;

  const render = () => {
    if (shown === undefined) return;
    const task = tasks.busyWith(shown.name);
    const state = `${task?.state} ${task?.id} ${apps.entryOf(shown.name)}`;
    if (buttons.dataset.state === state) return;
    buttons.dataset.state = state;
    const hadFocus = buttons.contains(document.activeElement);
    buttons.replaceChildren(...buttonsOf({ ...shown, task }, { on, entryOf: apps.entryOf }));
    if (hadFocus) (buttons.querySelector('a, button:not(:disabled)') ?? title).focus();
  };
  const show = (item) => {
    shown = item;
    apps.learn([item]);
    setText(title, titleOf(item));
    setText(byId('app-name'), [item.name, versionWords(item)].join(' · '));
    icons.show(letter, item);
    setText(byId('app-description'), descriptionOf(item));
    body.replaceChildren(...sectionsOf(item));
    delete buttons.dataset.state;
    render();
  };
  /** What an installation takes with all that comes along, which only its plan says. */
  const showCost = async (item, signal) => {
    if (item.installed_version !== undefined) return;
    const asked = { operation: 'install', package: item.name };
    // The dialog that asks before it is done says what stands against it.
    const plan = await api.get('admin/store/plan', asked, { signal }).catch(() => undefined);
    if (signal.aborted || shown !== item || !(plan?.disk_bytes > 0)) return;
    const text = t('{size}, with all it needs', { size: size(plan.disk_bytes) });
    body.querySelector('dl')?.append(...factRows([[t('Takes'), text]]));
  };
  const clear = () => {
    shown = undefined;
    setText(title, query.package);
    setText(byId('app-name'), '');
    setText(byId('app-description'), '');
    buttons.replaceChildren();
    body.replaceChildren();
    icons.show(letter, { name: query.package, version: '' });
  };
  const loader = createLoader({
    state: byId('app-state'),
    load: async (signal) => {
      const item = await api.get('admin/store/details', query, { signal });
      if (signal.aborted) return;
      show(item);
      void showCost(item, signal);
    },
    onGone: report,
  });
  return {
    show: (argument) => {
      const { package: name, kind } = query;
      query = detailsQuery(argument);
      if (query.package !== name || query.kind !== kind) clear();
      void loader.restart();
    },
    hide: loader.cancel,
    load: () => (shown === undefined ? undefined : loader.load()),
    render,
  };
}

function buttonsOf(item, { on, entryOf }) {
  if (item.task !== undefined) {
    return [
      button({
        text: busyWord(item.task),
        className: 'busy',
        onclick: () => on.showTask(item.task.id),
      }),
    ];
  }
  if (item.installed_version === undefined) {
    const onclick = () => on.install(item);
    return [button({ text: t('Install'), className: 'primary', onclick, isWrite: true })];
  }
  const entry = entryOf(item.name);
  const upgrade = () =>
    button({ symbol: 'up', text: t('Upgrade'), onclick: () => on.upgrade(item), isWrite: true });
  return [
    ...(entry ? [openLink(entry)] : []),
    ...(entry === '' ? [textElement('span', t('Open it in LuCI'), 'note')] : []),
    ...upgradeOf(item, upgrade),
    holdButton(item, on),
    button({
      symbol: 'bin',
      text: t('Remove'),
      className: 'danger-text',
      onclick: () => on.remove(item),
      isWrite: true,
    }),
  ];
}

function upgradeOf(item, upgrade) {
  if (isLeftToFirmware(item)) {
    return [textElement('span', t('The newer version comes with the next firmware.'), 'note')];
  }
  return item.is_upgradable && item.is_held !== true ? [upgrade()] : [];
}

function holdButton(item, on) {
  const isHeld = item.is_held === true;
  return button({
    text: isHeld ? t('Let it be upgraded') : t('Hold this version'),
    onclick: () => on.hold(item, !isHeld),
    isWrite: true,
  });
}

function sectionsOf(item) {
  return [
    ...stopsIn(item),
    section(t('About'), [factList(aboutOf(item))]),
    section(t('Needs'), (item.depends ?? []).length > 0 ? [alternatives(item.depends)] : []),
    section(t('Is needed by'), nameLinks(item.required_by)),
    section(t('Excludes'), nameLinks(item.conflicts)),
    section(t('On this device'), deviceFacts(item)),
    section(t('Versions offered'), versionsOf(item)),
  ].filter(Boolean);
}

function section(title, children) {
  if (children.length === 0) return undefined;
  return element('section', { className: 'card facts' }, [textElement('h3', title), ...children]);
}

function factList(facts) {
  return element('dl', {}, factRows(facts));
}

function aboutOf(item) {
  return [
    [t('Installed version'), item.installed_version],
    [t('Newest version'), item.versions.length > 0 ? item.version : undefined],
    [t('Takes'), installedSizeOf(item)],
    [t('Feed'), item.feed],
    [t('Section'), item.kind === 'app' ? undefined : item.section],
    [t('Tags'), (item.tags ?? []).map(tagWord).join(', ')],
    [t('Licence'), item.license],
    [t('Maintainer'), item.maintainer],
    [t('Home page'), homePage(item.homepage)],
    [t('Also offers'), (item.provides ?? []).join(', ')],
  ];
}

/** The installed size; of what is not installed its plan says it. */
function installedSizeOf(item) {
  const bytes = bytesOf(item);
  return item.installed_version !== undefined && bytes > 0 ? size(bytes) : undefined;
}

/** An address in a package's description must be one that leads to a page. */
function homePage(address) {
  if (!address || !URL.canParse(address)) return address;
  const { protocol, href } = new URL(address);
  if (!/^https?:$/.test(protocol)) return address;
  return element('a', { href, target: '_blank', rel: 'noopener noreferrer' }, [address]);
}

function nameLink(name) {
  return element('a', { href: detailsAddress({ name, kind: 'package' }) }, [name]);
}

function nameLinks(names = []) {
  if (names.length === 0) return [];
  return [foldedList(names.map((name) => [nameLink(name)]))];
}

/** Dependencies: each of them, or any of several. */
function alternatives(depends) {
  return foldedList(
    depends.map((names) =>
      names.flatMap((name, index) =>
        index === 0 ? [nameLink(name)] : [` ${t('or')} `, nameLink(name)],
      ),
    ),
  );
}

function foldedList(entries) {
  const items = entries.map((children) => element('li', {}, children));
  const list = element('ul', { className: 'names' }, items);
  if (entries.length <= MANY) return list;
  return element('details', {}, [element('summary', {}, [packageCount(entries.length)]), list]);
}

function deviceFacts(item) {
  if (item.installed_version === undefined) return [];
  const task = element('a', { href: `#activity/${item.task_id}` }, [t('Show the task')]);
  return [
    factList([
      [t('Installed'), item.installed_at > 0 ? dayAndMinute(item.installed_at) : undefined],
      [t('Brought by'), item.task_id === undefined ? undefined : task],
      [t('Files'), item.files && count(item.files.count)],
      [t('Configuration'), (item.config ?? []).join(', ')],
      [t('Services'), servicesOf(item)],
    ]),
  ];
}

function servicesOf({ services = [], is_running: runs }) {
  const known = runs === undefined ? [] : [runs ? t('running') : t('not running')];
  return [services.join(', '), ...known].filter(Boolean).join(' · ');
}

function versionsOf({ versions = [] }) {
  return versions.length === 0
    ? []
    : [factList(versions.map(({ version, feed }) => [version, feed || '–']))];
}
