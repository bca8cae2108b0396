import { language, t } from '../../i18n.js';
import { size } from '../../words.js';

/** An app or package in words. */
export function titleOf({ title, name }) {
  return title || name;
}

const TAGS = {
  'ad blocking': () => t('ad blocking'),
  proxy: () => t('proxy'),
  firewall: () => t('firewall'),
  traffic: () => t('traffic'),
  storage: () => t('storage'),
  media: () => t('media'),
  downloads: () => t('downloads'),
  printing: () => t('printing'),
  containers: () => t('containers'),
  mobile: () => t('mobile network'),
  system: () => t('system'),
};

/** What depotd calls the subjects of apps; a feed's own tags are as they are. */
export function tagWord(tag) {
  return Object.hasOwn(TAGS, tag) ? TAGS[tag]() : tag;
}

/** An app can be upgraded with its own package as it is, by what came with it. */
export function versionWords({
  version,
  installed_version: installed,
  is_upgradable: isUpgradable,
}) {
  if (!isUpgradable || installed === undefined) return installed ?? version;
  if (installed !== version) return `${installed} → ${version}`;
  return [installed, t('what it needs has newer versions')].join(' · ');
}

/** Version, or both if there is a newer one; size; and what keeps it from being upgraded. */
export function factsOf(item) {
  return [
    versionWords(item),
    ...[bytesOf(item)].filter((bytes) => bytes > 0).map(size),
    item.is_held === true ? t('held') : '',
    systemWord(item),
  ]
    .filter(Boolean)
    .join(' · ');
}

function systemWord({ is_system: isSystem, ...item }) {
  if (isLeftToFirmware(item)) return t('the newer version comes with the next firmware');
  return isSystem === true ? t('part of the system') : '';
}

/** What a feed has a newer version of, which the flash has no room for beside the image's own. */
export function isLeftToFirmware({ is_upgradable: isUpgradable, is_of_firmware: isOfFirmware }) {
  return isUpgradable && isOfFirmware === true;
}

/** Size of an app or package; of an app that is not installed its plan says it. */
export function bytesOf({ kind, installed_version: installed, ...sizes }) {
  if (kind === 'app' && installed === undefined) return 0;
  return sizes.installed_bytes ?? (kind === 'app' ? 0 : sizes.download_bytes);
}

/** The description; none if it only says the title once more, as in feeds. */
export function descriptionOf({ title, description, description_en: english, broken }) {
  if (broken === true) {
    return t(
      'The description of this app cannot be read. ' + 'Removing and installing it again may help.',
    );
  }
  const text = (language() === 'en' && english) || description || english || '';
  return text === title ? '' : text;
}
