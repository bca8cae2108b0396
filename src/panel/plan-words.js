import { t } from './i18n.js';
import { titleOf } from './views/catalog/item-words.js';

/** What the dialogs say that ask before packages are changed. */
export function installWords(app) {
  return {
    title: t('Install {subject}?', { subject: titleOf(app) }),
    yes: t('Install'),
    nothing: t('It is installed already.'),
  };
}

export function upgradeWords(app) {
  return {
    title: t('Upgrade {app}?', { app: titleOf(app) }),
    yes: t('Upgrade'),
    nothing: t('It has its newest version already. “Update lists” looks for newer ones.'),
  };
}

export function upgradeAllWords() {
  return {
    title: t('Upgrade all?'),
    yes: t('Upgrade all'),
    nothing: t('Everything has its newest version already.'),
  };
}

export function removeWords(app) {
  return {
    title: t('Remove {app}?', { app: titleOf(app) }),
    yes: t('Remove'),
    nothing: t('It is not installed.'),
    isDangerous: true,
    typed: app.stops === undefined ? '' : app.name,
  };
}

export function undoWords({ title }) {
  return {
    title: t('Undo “{task}”?', { task: title }),
    yes: t('Undo'),
    nothing: t('All is as it was before already.'),
  };
}

export function uploadWords(file) {
  return {
    title: t('Install {subject}?', { subject: file.name }),
    yes: t('Install'),
    nothing: t('It is installed already.'),
  };
}
