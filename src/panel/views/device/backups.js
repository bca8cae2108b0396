import { button, byId, createRows, element, setText, textElement } from '../../dom.js';
import { t } from '../../i18n.js';
import { createLoader } from '../../loader.js';
import { setDisabled } from '../../permission.js';
import { dayAndMinute, packageCount, size } from '../../words.js';

/** What can be brought back, and whether that happens by itself after a firmware upgrade. */
export function createBackups({ api, report, on }) {
  const input = byId('backup-file');
  const flip = byId('backup-switch');
  let isOn = false;
  byId('backup-now').addEventListener('click', () => on.backUp());
  flip.addEventListener('click', () => on.setAfterUpgrade(!isOn));
  input.addEventListener('change', async () => {
    const [file] = input.files;
    if (file === undefined) return;
    setText(byId('backup-problem'), '');
    setDisabled(input, true);
    setText(byId('backup-problem'), await on.addBackup(file));
    setDisabled(input, false);
    // The same file can be chosen again.
    input.value = '';
  });
  const showRows = createRows(byId('backups-list'), {
    keyOf: ({ id }) => id,
    // A backup's row says the same for as long as it is there.
    create: (backup) => ({ element: createRow(backup, on), update: () => undefined }),
    fallback: byId('backups-title'),
  });
  return createLoader({
    state: byId('backups-state'),
    load: async (signal) => {
      const answer = await api.get('admin/store/backups', {}, { signal });
      byId('backups-empty').hidden = answer.backups.length > 0;
      showRows(answer.backups);
      isOn = answer.after_upgrade;
      setText(flip, isOn ? t('Switch off') : t('Switch on'));
      setText(
        byId('backup-switch-note'),
        isOn
          ? t('Packages, feeds and this page come back by themselves once the network is there.')
          : t('Packages are gone then. Switched on, they come back by themselves.'),
      );
    },
    onGone: report,
  });
}

function createRow(backup, on) {
  const { id, made_at: madeAt, reason, packages, bytes, has_packages: isWhole, release } = backup;
  const when = dayAndMinute(madeAt);
  const facts = [
    REASONS[reason]?.() ?? reason,
    packageCount(packages),
    ...(isWhole ? [t('with package files')] : []),
    size(bytes),
    release,
  ];
  const buttons = [
    button({
      text: t('Restore'),
      label: t('Restore the backup of {when}', { when }),
      onclick: () => on.restore(id),
      isWrite: true,
    }),
    button({
      text: t('Download file'),
      label: t('Download the backup of {when}', { when }),
      onclick: () => on.downloadBackup(id),
      isWrite: true,
    }),
    button({
      symbol: 'bin',
      label: t('Delete the backup of {when}', { when }),
      className: 'danger-text only-icon',
      onclick: () => on.removeBackup(id, when),
      isWrite: true,
    }),
  ];
  return element('li', {}, [
    element('div', { className: 'grow' }, [
      textElement('p', when),
      textElement('p', facts.filter(Boolean).join(' · '), 'note'),
    ]),
    element('div', { className: 'buttons' }, buttons),
  ]);
}

const REASONS = {
  asked: () => t('made by hand'),
  removal: () => t('before a removal'),
  upgrade: () => t('before an upgrade'),
  self_upgrade: () => t('before an upgrade'),
  given: () => t('from a file'),
  firmware: () => t('for a firmware upgrade'),
};
