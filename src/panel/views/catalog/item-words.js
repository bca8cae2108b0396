import { t } from '../../i18n.js';
import { size } from '../../words.js';

/** An app or package in words. */
export function titleOf({ title, name }) {
  return title || name;
}

/** Version, or both if there is a newer one; size; and what keeps it from being upgraded. */
export function factsOf(item) {
  const { version, installed_version: installed, is_upgradable: isUpgradable } = item;
  // Of an app it is the size of its description alone; its plan says the rest.
  const bytes = item.kind === 'app' ? 0 : (item.installed_bytes ?? item.download_bytes);
  return [
    isUpgradable && installed !== undefined ? `${installed} → ${version}` : (installed ?? version),
    bytes > 0 ? size(bytes) : '',
    item.is_held === true ? t('held') : '',
  ]
    .filter(Boolean)
    .join(' · ');
}

/**
 * Nothing if it only says the title once more, as feeds do.
 * @param describe what an installed app says of itself in the page's language, by its name
 */
export function descriptionOf({ name, title, description, broken }, describe) {
  if (broken === true) {
    return t(
      'The description of this app cannot be read. ' + 'Removing and installing it again may help.',
    );
  }
  const text = describe(name) ?? description ?? '';
  return text === title ? '' : text;
}
