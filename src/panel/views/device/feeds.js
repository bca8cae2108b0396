import { button, byId, createRows, element, refill, setText, textElement } from '../../dom.js';
import { daemonText, t } from '../../i18n.js';
import { createLoader } from '../../loader.js';
import { setDisabled } from '../../permission.js';
import { ago, count, packageCount } from '../../words.js';
import { confirm } from '../dialogs/confirm.js';

/** Where packages come from; people add and remove feeds of their own. */
export function createFeeds({ api, report, on }) {
  const list = byId('feeds-list');
  const form = byId('feeds-form');
  const submit = form.querySelector('[type=submit]');
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const parameters = {
      name: byId('feeds-name').value.trim(),
      url: byId('feeds-url').value.trim(),
    };
    setDisabled(submit, true);
    const isAccepted = await on.feed('add_feed', parameters);
    setDisabled(submit, false);
    if (isAccepted) form.reset();
  });
  const showIstore = createIstoreOffer(on);
  const showRows = createRows(list, {
    keyOf: ({ name, url }) => `${name} ${url}`,
    create: () => createRow(on),
    fallback: form.parentElement.querySelector('summary'),
  });
  return createLoader({
    state: byId('feeds-state'),
    load: async (signal) => {
      const { feeds } = await api.get('admin/store/feeds', {}, { signal });
      showRows(feeds);
      showIstore(await api.get('admin/store/istore', {}, { signal }));
    },
    onGone: report,
  });
}

/** Who comes from iStore finds its apps again, on a yes. */
function createIstoreOffer(on) {
  let missing = [];
  let isChecked = false;
  byId('feeds-istore-add').addEventListener('click', async () => {
    const hosts = [
      ...new Set(missing.flatMap(({ url, mirrors }) => [...mirrors, url]).map(hostOf)),
    ];
    const isYes = await confirm({
      title: t("Add iStore's catalogue?"),
      text: isChecked
        ? t(
            'Its feeds are at {hosts}. A feed that is not signed by a key of this device is ' +
              'refused. Whoever runs them may do anything on this device.',
            { hosts: hosts.join(', ') },
          )
        : t(
            'Its feeds are at {hosts}. This device checks no signatures: whoever runs them, or ' +
              'stands on the way to them, may do anything on it.',
            { hosts: hosts.join(', ') },
          ),
      yes: t('Add'),
      no: t('Cancel'),
    });
    if (!isYes) return;
    for (const { name, url, mirrors } of missing) {
      await on.feed('add_feed', { name, url, mirror: mirrors });
    }
  });
  return ({ seen, feeds, checks_signatures: checks }) => {
    missing = feeds.filter(({ is_there: isThere }) => !isThere);
    isChecked = checks;
    byId('feeds-istore').hidden = !seen || (feeds.length > 0 && missing.length === 0);
    byId('feeds-istore-add').hidden = missing.length === 0;
    setText(
      byId('feeds-istore-text'),
      missing.length > 0
        ? t(
            'iStore is installed here. The apps of its catalogue are in {count} feeds of its own.',
            {
              count: count(missing.length),
            },
          )
        : t('iStore is installed here. Its feeds are known once it has updated its lists.'),
    );
  };
}

function hostOf(url) {
  return new URL(url).host;
}

function createRow(on) {
  const row = element('li');
  let shown;
  const update = (feed) => {
    const now = JSON.stringify([feed, factsOf(feed)]);
    if (now !== shown) refill(row, contentOf(feed, on));
    shown = now;
  };
  return { element: row, update };
}

function contentOf(feed, on) {
  const { name, url, kind, enabled, error, remedy, upgrades = true } = feed;
  const change = () => on.feed('set_feed', { name, enabled: enabled ? '0' : '1' });
  const flag = button({
    text: upgrades ? t('No upgrades from here') : t('Upgrades from here'),
    label: upgrades
      ? t('No upgrades from the feed {name}', { name })
      : t('Upgrades from the feed {name}', { name }),
    onclick: () => on.feed('set_feed', { name, upgrades: upgrades ? '0' : '1' }),
    isWrite: true,
  });
  const flip = button({
    text: enabled ? t('Switch off') : t('Switch on'),
    label: enabled
      ? t('Switch off the feed {name}', { name })
      : t('Switch on the feed {name}', { name }),
    onclick: change,
    isWrite: true,
  });
  const remove = button({
    symbol: 'bin',
    label: t('Remove the feed {subject}', { subject: name }),
    className: 'danger-text only-icon',
    onclick: () => on.removeFeed(feed),
    isWrite: true,
  });
  return [
    element('div', { className: 'grow' }, [
      element('p', {}, [
        textElement('strong', name),
        ...(enabled ? [] : [' ', textElement('span', t('off'), 'chip')]),
        ...(upgrades ? [] : [' ', textElement('span', t('no upgrades'), 'chip')]),
      ]),
      textElement('p', url, 'note'),
      textElement('p', factsOf(feed), 'note'),
      ...(error ? [textElement('p', daemonText(error), 'problem')] : []),
      ...(error && remedy ? [textElement('p', daemonText(remedy), 'note')] : []),
    ]),
    element('div', { className: 'buttons' }, [flag, flip, ...(kind === 'custom' ? [remove] : [])]),
  ];
}

function factsOf({ packages, updated_at: updatedAt, kind, key }) {
  return [
    packages === undefined ? '' : packageCount(packages),
    ago(updatedAt) === '' ? '' : t('updated {ago}', { ago: ago(updatedAt) }),
    kind === 'system' ? t('part of the system') : '',
    key === undefined ? '' : t('key {key}', { key }),
  ]
    .filter(Boolean)
    .join(' · ');
}
