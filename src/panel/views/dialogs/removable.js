import { button, element, textElement } from '../../dom.js';
import { t } from '../../i18n.js';
import { size } from '../../words.js';
import { titleOf } from '../catalog/item-words.js';

/** So many apps that take the most space have their removal planned, and so many are named. */
const PLANNED = 5;
const NAMED = 3;
/** What frees less than this part of what the largest frees is no help. */
const LEAST_PART = 0.1;
/** The packages that this page and its daemon come from. */
const OWN = /^(luci-(app|i18n)-)?depotd(-|$)/;

/**
 * Names what can be removed to make room, what frees the most first, and says whether that is
 * enough. Empty until that is known.
 * @param missingBytes how much is short; 0 if nobody knows
 * @param onRemove gets the item that somebody chose
 */
export function removableList({ api, signal, onRemove, missingBytes }) {
  const box = element('div');
  const show = async () => {
    const found = await findRemovable(api, signal);
    const list = found.map((each) => removableRow(each, onRemove));
    box.replaceChildren(
      textElement('p', verdictOn(found, missingBytes)),
      element('ul', { className: 'removable' }, list),
    );
  };
  // The button beside it shows all that is installed.
  void show().catch(() => undefined);
  return box;
}

function verdictOn(found, missingBytes) {
  const missing = size(missingBytes);
  if (missingBytes <= 0 || found.length === 0) return '';
  if (found[0].bytes >= missingBytes) {
    return t('{missing} are missing. The largest of these is enough:', { missing });
  }
  const bytes = found.reduce((sum, each) => sum + each.bytes, 0);
  if (bytes >= missingBytes) {
    return t('{missing} are missing. Together these are enough:', { missing });
  }
  return t(
    '{missing} are missing, and these free {size} together: more has to go, or a disk has to ' +
      'extend the system.',
    { missing, size: size(bytes) },
  );
}

function removableRow({ item, bytes }, onRemove) {
  const text = t('Remove {app} ({size})', { app: titleOf(item), size: size(bytes) });
  const onclick = () => onRemove(item);
  return element('li', {}, [
    button({ symbol: 'bin', text, className: 'danger-text', onclick, isWrite: true }),
  ]);
}

async function findRemovable(api, signal) {
  const query = { kind: 'all', state: 'installed', sort: 'size', per_page: '200' };
  const { items } = await api.get('admin/store/available', query, { signal });
  const planned = await Promise.all(
    owned(items)
      .slice(0, PLANNED)
      .map((item) => planRemoval(api, item, signal)),
  );
  const possible = planned
    .filter(({ isPossible, bytes }) => isPossible && bytes > 0)
    .sort((one, other) => other.bytes - one.bytes);
  const leastBytes = LEAST_PART * possible[0]?.bytes;
  return possible.filter(({ bytes }) => bytes >= leastBytes).slice(0, NAMED);
}

/**
 * What neither the firmware brought nor came as a dependency. An app's own package may have its
 * name, and goes with it.
 */
function owned(items) {
  const names = new Set();
  return items.filter(({ name, is_auto: isAuto, is_system: isSystem }) => {
    if (isAuto === true || isSystem === true || OWN.test(name) || names.has(name)) return false;
    names.add(name);
    return true;
  });
}

async function planRemoval(api, item, signal) {
  const query = { operation: 'remove', package: item.name };
  const plan = await api.get('admin/store/plan', query, { signal });
  return { item, bytes: -plan.disk_bytes, isPossible: plan.is_possible };
}
