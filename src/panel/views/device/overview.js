import { byId, factRows } from '../../dom.js';
import { t } from '../../i18n.js';
import { createLoader } from '../../loader.js';
import { size, span } from '../../words.js';
import { fillBar } from './fill-bar.js';

/**
 * Model, versions, memory and the space of the system.
 * @param onDevice gets what the device says of itself
 */
export function createOverview({ api, report, onDevice }) {
  const facts = byId('overview-facts');
  const bars = byId('overview-bars');
  return createLoader({
    state: byId('overview-state'),
    load: async (signal) => {
      const device = await api.get('admin/system/device', {}, { signal });
      facts.replaceChildren(...factRows(factsOf(device)));
      bars.replaceChildren(...barsOf(device));
      onDevice(device);
    },
    onGone: report,
  });
}

function factsOf(device) {
  return [
    [t('Model'), device.model],
    [t('System'), device.release],
    [t('Kernel'), device.kernel],
    [t('Architecture'), device.architecture],
    [t('Packages by'), device.package_manager],
    [t('Running for'), device.uptime_s > 0 ? span(device.uptime_s) : ''],
    [t('Load'), device.load?.map((value) => value.toFixed(2)).join(' ')],
  ];
}

const ROLES = {
  overlay: () => t('Space for packages'),
  system: () => t('System'),
  data: () => t('Data'),
};

function barsOf({ memory, storage = [] }) {
  const disks = storage.map(({ mount, role, total_bytes: total, free_bytes: free }) =>
    fillBar({
      title: Object.hasOwn(ROLES, role) ? `${ROLES[role]()} (${mount})` : mount,
      total,
      free,
      text: t('{free} of {total} free', { free: size(free), total: size(total) }),
    }),
  );
  if (memory === undefined) return disks;
  const { total_bytes: total, available_bytes: free } = memory;
  const text = t('{free} of {total} free', { free: size(free), total: size(total) });
  return [...disks, fillBar({ title: t('Memory'), total, free, text })];
}
