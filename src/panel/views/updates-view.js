import { button, byId, createRows, element, setHidden, setText } from '../dom.js';
import { t } from '../i18n.js';
import { createLoader } from '../loader.js';
import { detailsAddress } from '../router.js';
import { busyWord, count, packageCount, size } from '../words.js';
import { factsOf, isLeftToFirmware, titleOf } from './catalog/item-words.js';
import { showMissingLists } from './catalog/missing-lists.js';
import { missingIn } from './dialogs/plan-content.js';
import { createLeftGroups } from './left-groups.js';

const META = 'app-meta-';
const MOST = '200';

/**
 * What can be upgraded: what `Upgrade all` is about, and what it leaves, with the reason.
 * @param onCount gets the number of packages that it upgrades
 */
export function createUpdatesView({ api, tasks, icons, on, report, apps }, { onCount }) {
  const all = byId('updates-all');
  const options = { icons, on, fallback: byId('updates-title') };
  const showMain = createUpdateRows(byId('updates-list'), options);
  const showLeft = createLeftGroups(byId('updates-left'), (list) =>
    createUpdateRows(list, options),
  );
  let found;

  const withTask = (item) => ({ ...item, task: tasks.busyWith(item.name) });
  const render = () => {
    if (found === undefined) return;
    showMain(found.main.map(withTask));
    showLeft(found.others.map(withTask), found.plan);
    const isEmpty = found.main.length === 0;
    showMissingLists(byId('updates-lists'), found.lists, on);
    const isUnknown = found.lists?.state === 'missing';
    byId('updates-empty').hidden = !isEmpty || isUnknown || found.others.length > 0;
    setHidden(all, isEmpty, byId('updates-title'));
    setText(byId('updates-cost'), isEmpty ? '' : costOf(found.plan));
    showRegular(found.lists, on);
  };
  const loader = createLoader({
    state: byId('updates-state'),
    load: async (signal) => {
      const query = { kind: 'all', state: 'upgradable', sort: 'name', per_page: MOST };
      const { items, lists } = await readAll(api, query, signal);
      apps.learn(items);
      const plan =
        items.length === 0
          ? undefined
          : await api.get('admin/store/plan', { operation: 'upgrade', all: 'true' }, { signal });
      found = { ...divide(items, plan?.upgrades ?? []), plan, lists };
      onCount(plan?.upgrades.length ?? 0);
      render();
    },
    onGone: report,
  });
  all.addEventListener('click', on.upgradeAll);
  return { show: () => void loader.load(), load: loader.load, render };
}

/** Page by page: what the owner can upgrade may come behind all that belongs to the firmware. */
async function readAll(api, query, signal) {
  const items = [];
  for (let page = 1; ; page += 1) {
    const asked = { ...query, page: String(page) };
    const answer = await api.get('admin/store/available', asked, { signal });
    items.push(...answer.items);
    if (answer.items.length === 0 || items.length >= answer.total) return { ...answer, items };
  }
}

const DAILY_H = 24;

/** Whether the lists are fetched by itself, and the other way to have it. */
function showRegular({ update_every_h: hours = 0 }, { updateEvery }) {
  const box = byId('updates-regular');
  const [text, change] = box.children;
  box.hidden = false;
  setText(text, regularText(hours));
  setText(change, hours === 0 ? t('Look once a day') : t('Only when I ask'));
  change.onclick = () => updateEvery(hours === 0 ? DAILY_H : 0);
}

function regularText(hours) {
  if (hours === 0) return t('Newer versions are looked for when you press “Update lists”.');
  return hours === 1
    ? t('Newer versions are looked for every hour.')
    : t('Newer versions are looked for every {hours} hours.', { hours: count(hours) });
}

/** An app is one row, and so are neither its description package nor its own program. */
function divide(items, upgrades) {
  const planned = new Set(upgrades.map(({ name }) => name));
  const apps = items.filter(({ kind }) => kind === 'app');
  const ofApps = new Set(apps.flatMap(({ name }) => [name, `${META}${name}`]));
  const packages = items.filter(({ kind, name }) => kind !== 'app' && !ofApps.has(name));
  const isMain = ({ name }) => planned.has(name);
  const isPlanned = ({ name }) => planned.has(name) || planned.has(`${META}${name}`);
  return {
    main: [...apps.filter(isPlanned), ...packages.filter(isMain)],
    others: [
      ...apps.filter((item) => !isPlanned(item)),
      ...packages.filter(({ name }) => !planned.has(name)),
    ],
  };
}

function costOf({ upgrades, download_bytes: download, disk_bytes: disk, ...plan }) {
  return [
    packageCount(upgrades.length),
    t('{size} to download', { size: size(download) }),
    ...(disk < 0 ? [t('frees {size}', { size: size(-disk) })] : []),
    ...(disk > 0 ? [t('takes {size}', { size: size(disk) })] : []),
    missingIn(plan) > 0
      ? t('{size} missing', { size: size(missingIn(plan)) })
      : t('{size} free afterwards', { size: size(plan.free_after_bytes) }),
  ].join(' · ');
}

function createUpdateRows(list, { icons, on, fallback }) {
  return createRows(list, {
    keyOf: ({ name }) => name,
    create: () => createUpdateRow(icons, on),
    fallback,
  });
}

function createUpdateRow(icons, on) {
  let shown;
  const letter = icons.create();
  const link = element('a');
  const facts = element('p', { className: 'note' });
  const upgrade = button({
    symbol: 'up',
    text: t('Upgrade'),
    onclick: () => on.upgrade(shown),
    isWrite: true,
  });
  const busy = button({ className: 'busy', onclick: () => on.showTask(shown.task.id) });
  const row = element('li', { className: 'update' }, [
    letter,
    element('div', { className: 'grow' }, [element('h3', {}, [link]), facts]),
    upgrade,
    busy,
  ]);
  const update = (item) => {
    shown = item;
    icons.show(letter, item);
    setText(link, titleOf(item));
    link.href = detailsAddress(item);
    // Why it has no button is said above it.
    setText(facts, factsOf({ ...item, is_of_firmware: false }));
    upgrade.setAttribute('aria-label', t('Upgrade {app}', { app: titleOf(item) }));
    const isBusy = item.task !== undefined;
    if (isBusy) setText(busy, busyWord(item.task));
    busy.hidden = !isBusy && document.activeElement !== busy;
    setHidden(upgrade, isBusy || isLeftToFirmware(item), busy);
    setHidden(busy, !isBusy, upgrade);
  };
  return { element: row, update };
}
