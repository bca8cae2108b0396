import { byId, element, textElement } from '../../dom.js';
import { t } from '../../i18n.js';
import { createLoader } from '../../loader.js';
import { size } from '../../words.js';
import { fillBar } from './fill-bar.js';

/** Devices with a file system, and how full those are that are mounted. */
export function createDisks({ api, report }) {
  const list = byId('disks-list');
  return createLoader({
    state: byId('disks-state'),
    load: async (signal) => {
      const { data } = await api.get('admin/system/disks', {}, { signal });
      const disks = Object.values(data);
      list.replaceChildren(...disks.map(createRow));
      byId('disks-empty').hidden = disks.length > 0;
    },
    onGone: report,
  });
}

function createRow(disk) {
  const { dev, label, type, size: text, mount, mounts = [] } = disk;
  const at = mounts.length > 0 ? mounts : [mount].filter(Boolean);
  const facts = [
    type,
    label,
    at.length === 0 ? t('not mounted') : t('at {mount}', { mount: at.join(', ') }),
  ];
  const usage = usageOf(disk);
  return element('li', {}, [
    element('div', { className: 'grow' }, [
      textElement('p', dev),
      textElement('p', facts.filter(Boolean).join(' · '), 'note'),
      ...usage,
    ]),
    // A file system has a little less room than what it is on: one total is enough.
    ...(usage.length > 0
      ? []
      : [textElement('span', (text ?? '').replace(/(?<=[KMGTPE])B$/, 'iB'), 'soft')]),
  ]);
}

/** Images that nothing is written to: they have no free bytes, and need none. */
const READ_ONLY_TYPES = ['squashfs', 'erofs', 'iso9660'];

function usageOf({ dev, type, total_bytes: total, free_bytes: free }) {
  if (total === undefined || free === undefined) return [];
  const text = t('{free} of {total} free', { free: size(free), total: size(total) });
  const canFill = !READ_ONLY_TYPES.includes(type);
  return [fillBar({ title: dev, total, free, text, isTitleShown: false, canFill })];
}
