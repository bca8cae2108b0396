import { element, factRows, textElement } from '../../dom.js';
import { daemonText, t } from '../../i18n.js';
import { size } from '../../words.js';

/** More changes than this are behind a click. */
const MANY = 8;

export function isEmpty({ installs, upgrades, removes }) {
  return installs.length + upgrades.length + removes.length === 0;
}

/** Whether an undo or a restore has more to do than with packages that are offered. */
export function bringsMore({ files = [], report = [] }) {
  return files.length > 0 || report.some(({ state }) => state !== 'there');
}

/** What a file is that was sent. */
export function fileIn({ kind, package: name, version, size_bytes: bytes, sha256 }) {
  const facts = [
    ...(name === undefined ? [] : [[t('Package'), `${name} ${version}`]]),
    [t('Size'), size(bytes)],
    [t('SHA-256'), sha256],
  ];
  const warning = t('This file is a program: it may do anything on the device.');
  return [
    ...(kind === 'program' ? [textElement('p', warning, 'problem')] : []),
    element('dl', {}, factRows(facts)),
  ];
}

/** What a person is shown of a plan. */
export function contentOf(plan) {
  return [
    ...stopsIn(plan),
    ...spaceIn(plan),
    ...changesIn(plan),
    ...filesIn(plan),
    ...reportIn(plan),
    ...settingsIn(plan),
    ...containersIn(plan),
  ];
}

/** What the change costs: bytes to fetch and on the disk, and what is free after it. */
function spaceIn(plan) {
  const { download_bytes: download, disk_bytes: disk } = plan;
  const facts = [
    ...(download > 0 ? [[t('Download'), size(download)]] : []),
    ...spaceOf(disk),
    [t('Free now'), size(plan.free_bytes)],
    freeAfter(plan),
  ];
  const list = element('dl', { className: 'figures' }, factRows(facts));
  list.lastElementChild.classList.toggle('is-bad', missingIn(plan) > 0);
  return [list];
}

/** Bytes that are short; apk wants some to spare. */
export function missingIn({ free_after_bytes: free, problems }) {
  return Math.max(0, -free, ...problems.map(({ missing_bytes: missing = 0 }) => missing));
}

/** A shortage is no amount that is free. */
function freeAfter(plan) {
  const missing = missingIn(plan);
  return missing > 0
    ? [t('Missing'), size(missing)]
    : [t('Free afterwards'), size(plan.free_after_bytes)];
}

/** Space in words; none if it is not known: a manager may not keep what an old version took. */
function spaceOf(bytes) {
  if (bytes === 0) return [];
  return [bytes < 0 ? [t('Frees'), size(-bytes)] : [t('Takes'), size(bytes)]];
}

/** The packages that come, are upgraded and go. */
function changesIn({ installs, upgrades, removes }) {
  return [
    changeList(t('To be installed'), installs),
    changeList(t('To be upgraded'), upgrades),
    changeList(t('To be removed'), removes),
  ].filter(Boolean);
}

/** Files that an undo or a restore puts back. */
function filesIn({ files = [] }) {
  if (files.length === 0) return [];
  const rows = files.map((path) => textElement('li', path));
  return [group(t('Files that go back'), rows)];
}

/** What stops working on the device when these go. */
export function stopsIn({ stops = [] }) {
  if (stops.length === 0) return [];
  return [
    element('div', { className: 'problem-box' }, [
      textElement('p', t('The device stands on it'), 'problem-heading'),
      element(
        'ul',
        { className: 'stops' },
        stops.map(({ message }) => textElement('li', daemonText(message))),
      ),
    ]),
  ];
}

/** What a removal leaves. */
function settingsIn({ settings = [] }) {
  if (settings.length === 0) return [];
  const text = t('Settings go, too, unless they were changed: {paths}', {
    paths: settings.join(', '),
  });
  return [textElement('p', text, 'note')];
}

/** Report of a backup's restore: what comes otherwise than it was, and what cannot. */
export function reportIn({ report }) {
  if (report === undefined) return [];
  const named = (state) => report.filter((line) => line.state === state);
  const names = (state) =>
    named(state)
      .map(({ package: name, as }) => (as === undefined ? name : `${name} → ${as}`))
      .join(', ');
  const unknown = named('back').filter(({ message }) => message !== undefined);
  const lines = [
    ...(unknown.length > 0
      ? [
          t('Looked for once the package lists are there: {names}', {
            names: unknown.map(({ package: name }) => name).join(', '),
          }),
        ]
      : []),
    ...(named('renamed').length > 0
      ? [t('Under another name: {names}', { names: names('renamed') })]
      : []),
    ...(named('not_offered').length > 0
      ? [t('Not offered any more: {names}', { names: names('not_offered') })]
      : []),
    ...(named('failed').length > 0 ? [t('Cannot come: {names}', { names: names('failed') })] : []),
  ];
  return lines.map((line) => textElement('p', line, 'note'));
}

/** Containers that go with their app, each with its image and the data that is the app's own. */
function containersIn({ containers = [] }) {
  if (containers.length === 0) return [];
  return [
    element('details', { className: 'change-group', open: true }, [
      element('summary', {}, [
        t('Containers to be removed'),
        ' ',
        textElement('span', String(containers.length), 'count'),
      ]),
      element('ul', { className: 'changes' }, containers.map(containerRow)),
    ]),
  ];
}

function containerRow({ name, image, image_bytes: bytes, is_unpinned: isUnpinned, keeps }) {
  const facts = [image, ...(isUnpinned ? [t('no fixed version')] : [])].join(' · ');
  const data = keeps.length === 0 ? '' : t('Its data: {paths}', { paths: keeps.join(', ') });
  return element('li', {}, [
    element('span', { className: 'grow' }, [
      textElement('strong', name),
      ' ',
      textElement('span', facts, 'soft'),
      ...(data === '' ? [] : [element('br'), textElement('span', data, 'soft')]),
    ]),
    textElement('span', bytes === undefined ? '' : size(bytes), 'soft'),
  ]);
}

const REASONS = {
  dependency: () => t('needed by it'),
  orphan: () => t('nothing else needs it'),
  replaced: () => t('takes its place'),
  translation: () => t('its translation'),
};

function changeList(title, changes) {
  if (changes.length === 0) return undefined;
  return group(title, changes.map(changeRow));
}

function group(title, rows) {
  return element('details', { className: 'change-group', open: rows.length <= MANY }, [
    element('summary', {}, [title, ' ', textElement('span', String(rows.length), 'count')]),
    element('ul', { className: 'changes' }, rows),
  ]);
}

function changeRow({ name, version, from_version: from, reason, disk_bytes: disk }) {
  const versions = from === undefined ? version : `${from} → ${version}`;
  const why = Object.hasOwn(REASONS, reason) ? REASONS[reason]() : '';
  return element('li', {}, [
    element('span', { className: 'grow' }, [
      textElement('strong', name),
      ' ',
      textElement('span', [versions, why].filter(Boolean).join(' · '), 'soft'),
    ]),
    textElement('span', disk === 0 || disk === undefined ? '' : size(disk), 'soft'),
  ]);
}
