import { t } from '../../i18n.js';
import { size } from '../../words.js';

/** An app or package in words. */
export function titleOf({ title, name }) {
  return title || name;
}

/** Version, or both if there is a newer one; size; and what keeps it from being upgraded. */
export function factsOf(item) {
  const { version, installed_version: installed, is_upgradable: isUpgradable } = item;
  const bytes = item.installed_bytes ?? item.download_bytes;
  return [
    isUpgradable && installed !== undefined ? `${installed} → ${version}` : (installed ?? version),
    bytes > 0 ? size(bytes) : '',
    item.is_held === true ? t('held') : '',
  ]
    .filter(Boolean)
    .join(' · ');
}

export function descriptionOf(item) {
  return item.broken === true
    ? t(
        'The description of this app cannot be read. ' +
          'Removing and installing it again may help.',
      )
    : (item.description ?? '');
}
