import { byId, element, setText, textElement } from '../../dom.js';
import { daemonText, t } from '../../i18n.js';
import { createLoader } from '../../loader.js';

const WORDS = {
  ok: () => t('In order'),
  warning: () => t('Warning'),
  error: () => t('Problem'),
  skipped: () => t('Not checked'),
};
/** What is checked; the daemon says in English how it is. */
const NAMES = {
  'package-database': () => t('Package database'),
  'broken-packages': () => t('Broken packages'),
  'package-files': () => t('Files of packages'),
  'file-owners': () => t('Owners of files'),
  'hash-pins': () => t('Packages bound to a file'),
  'feed-keys': () => t('Keys of feeds'),
  'kept-configuration': () => t('Configuration and firmware upgrades'),
  restore: () => t('Restore of a backup'),
  'package-lock': () => t('Lock of the packages'),
  kernel: () => t('Kernel'),
  feeds: () => t('Feeds'),
  'container-engine': () => t('Container engine'),
  'container-restarts': () => t('Containers'),
  password: () => t('Password'),
  records: () => t('Records of tasks'),
  'space-system': () => t('Space for packages'),
  'space-tmp': () => t('Space for downloads'),
  'space-state': () => t('Space for records'),
  clock: () => t('Clock'),
  listeners: () => t('Reachability'),
  tools: () => t('Programs'),
  forge: () => t('Code forge'),
  fleet: () => t('Fleet'),
};
const ORDER = ['error', 'warning', 'ok', 'skipped'];

/** What the daemon checks of the device: problems first, and what is in order behind a click. */
export function createDoctor({ api, report }) {
  const list = byId('doctor-list');
  const fine = byId('doctor-fine');
  const loader = createLoader({
    state: byId('doctor-state'),
    load: async (signal) => {
      const { checks } = await api.get('admin/system/doctor', {}, { signal });
      const sorted = [...checks].sort(
        (one, other) => ORDER.indexOf(one.state) - ORDER.indexOf(other.state),
      );
      const isBad = ({ state }) => state === 'error' || state === 'warning';
      const bad = sorted.filter(isBad);
      list.replaceChildren(...bad.map(createRow));
      byId('doctor-good').hidden = bad.length > 0;
      fine.hidden = bad.length === sorted.length;
      const skipped = sorted.filter(({ state }) => state === 'skipped').length;
      const count = sorted.length - bad.length - skipped;
      setText(
        byId('doctor-fine-title'),
        skipped === 0
          ? t('{count} checks without a problem', { count })
          : t('{count} checks without a problem, {skipped} not checked', { count, skipped }),
      );
      byId('doctor-fine-list').replaceChildren(
        ...sorted.filter((check) => !isBad(check)).map(createRow),
      );
    },
    onGone: report,
  });
  byId('doctor-again').addEventListener('click', () => void loader.restart());
  return loader;
}

function createRow({ id, state, message, remedy }) {
  const name = Object.hasOwn(NAMES, id) ? NAMES[id]() : id;
  return element('li', {}, [
    element('span', { className: 'chip', dataset: { state: `check-${state}` } }, [
      Object.hasOwn(WORDS, state) ? WORDS[state]() : state,
    ]),
    element('div', { className: 'grow' }, [
      textElement('strong', name),
      textElement('p', daemonText(message)),
      ...(remedy ? [textElement('p', daemonText(remedy), 'note')] : []),
    ]),
  ]);
}
