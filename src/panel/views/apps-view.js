import { byId, createRows, element, icon, iconButton, setText } from '../dom.js';
import { language, t } from '../i18n.js';
import { ago, busyWord } from '../words.js';

/** The installed apps. `apps` undefined means that the list has not come yet. */
export function createAppsView({ tasks, loadIcon, onUpgrade, onRemove, onShowTask }) {
  const state = byId('apps-state');
  const count = byId('apps-count');
  const list = byId('apps-list');
  const show = createRows(list, {
    keyOf: ({ name }) => name,
    create: (app) => createCard(app, { loadIcon, onUpgrade, onRemove, onShowTask }),
  });
  return (apps) => {
    const sorted = [...(apps ?? [])].sort((one, other) =>
      titleOf(one).localeCompare(titleOf(other), language()),
    );
    show(sorted.map((app) => ({ ...app, task: tasks.busyWith(app.name) })));
    setText(count, apps?.length > 0 ? String(apps.length) : '');
    state.hidden = apps?.length > 0;
    setText(
      state,
      apps === undefined
        ? t('Loading …')
        : t('No apps yet. Type the name of one above to install it.'),
    );
  };
}

const COLOURS = 6;

function createCard(app, { loadIcon, onUpgrade, onRemove, onShowTask }) {
  let shown = app;
  const letter = element('span', {
    className: 'letter',
    'aria-hidden': 'true',
    dataset: { colour: String(colourOf(app.name)) },
  });
  const title = element('h3');
  const version = element('p', { className: 'version' });
  const description = element('p', { className: 'description' });
  const tags = element('ul', { className: 'tags', 'aria-label': t('Tags') });
  const open = element('a', { className: 'button primary', target: '_blank', rel: 'noopener' }, [
    icon('open'),
    t('Open'),
  ]);
  const upgrade = iconButton({ symbol: 'up', text: t('Upgrade'), onclick: () => onUpgrade(shown) });
  const remove = iconButton({
    symbol: 'bin',
    text: '',
    label: t('Remove'),
    className: 'danger-text only-icon',
    onclick: () => onRemove(shown),
  });
  const busy = element('button', {
    type: 'button',
    className: 'busy',
    onclick: () => onShowTask(shown.task.id),
  });
  const buttons = element('div', { className: 'buttons' }, [open, upgrade, remove, busy]);
  const card = element('li', { className: 'app card' }, [
    letter,
    element('div', { className: 'about' }, [title, version]),
    description,
    tags,
    buttons,
  ]);

  let iconOf;
  /** The letter stands until there is a picture. Another version may have another one. */
  const showIcon = (item) => {
    const wanted = `${item.name} ${versionOf(item)}`;
    if (iconOf === wanted) return;
    iconOf = wanted;
    letter.textContent = titleOf(item).slice(0, 1).toUpperCase();
    void loadIcon(item.name).then((url) => {
      if (url === undefined || iconOf !== wanted) return;
      letter.replaceChildren(element('img', { src: url, alt: '' }));
    });
  };

  const update = (item) => {
    shown = item;
    showIcon(item);
    setText(title, titleOf(item));
    setText(version, [versionOf(item), installedWord(item)].filter(Boolean).join(' · '));
    setText(
      description,
      item.broken === true
        ? t(
            'The description of this app cannot be read. ' +
              'Removing and installing it again may help.',
          )
        : descriptionOf(item),
    );
    showTags(tags, item);
    const address = entryOf(item);
    open.hidden = address === undefined;
    if (address !== undefined) open.href = address;
    const names = { app: titleOf(item) };
    open.setAttribute('aria-label', t('Open {app}', names));
    upgrade.setAttribute('aria-label', t('Upgrade {app}', names));
    remove.setAttribute('aria-label', t('Remove {app}', names));
    remove.title = t('Remove {app}', names);
    upgrade.hidden = remove.hidden = item.task !== undefined;
    busy.hidden = item.task === undefined;
    if (item.task !== undefined) setText(busy, busyWord(item.task));
  };
  return { element: card, update };
}

export function titleOf({ title, name }) {
  return title || name;
}

function installedWord({ time }) {
  return ago(time) === '' ? '' : t('installed {ago}', { ago: ago(time) });
}

function versionOf({ version, release }) {
  if (!version) return '';
  return release === undefined ? version : `${version}-${release}`;
}

function descriptionOf({ description, description_en: english }) {
  return (language() === 'en' ? english || description : description || english) ?? '';
}

function showTags(target, { tags = [], broken }) {
  target.hidden = tags.length === 0;
  target.dataset.tone = broken === true ? 'bad' : '';
  if (target.dataset.shown === tags.join()) return;
  target.dataset.shown = tags.join();
  target.replaceChildren(...tags.map((tag) => element('li', {}, [tag])));
}

/** A meta file is a package's own; an address in it must be one that leads to a page. */
function entryOf({ entry }) {
  if (!entry || !URL.canParse(entry, location.href)) return undefined;
  const { protocol, href } = new URL(entry, location.href);
  return /^https?:$/.test(protocol) ? href : undefined;
}

/** Always the same for the same name. */
function colourOf(name) {
  return (
    [...name].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) % 997, 7) % COLOURS
  );
}
