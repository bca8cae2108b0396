import { Refused } from './api.js';
import { element } from './dom.js';
import { t } from './i18n.js';

/** What people can do with backups. */
export function createBackupActions({ api, plan, submit, connection, onChanged, confirmLoss }) {
  const done = (answer) => answer.then(onChanged, connection.report);
  const restore = async (backup) => {
    const words = {
      title: t('Restore this backup?'),
      yes: t('Restore'),
      nothing: t('All of it is there already.'),
    };
    const answer = await plan.ask({ operation: 'restore', backup }, words);
    return answer !== undefined && submit('restore', { backup });
  };
  return {
    restore,
    backUp: () => submit('backup'),
    /** As if it were a link to a file: what is not there any more leaves the page as it is. */
    downloadBackup: (id) =>
      api
        .backupAddress(id)
        .then((href) => element('a', { href, download: '' }).click(), connection.report),
    removeBackup: async (id, when) => {
      const title = t('Delete the backup of {when}?', { when });
      const text = t('What is installed stays as it is.');
      if (await confirmLoss({ title, text, yes: t('Delete') })) {
        await done(api.post('admin/store/remove_backup', { id }));
      }
    },
    setAfterUpgrade: (isOn) =>
      done(api.post('admin/store/set_backup', { after_upgrade: isOn ? '1' : '0' })),
    /** @returns what is wrong with the file; empty if nothing is */
    addBackup: async (file) => {
      try {
        const { id } = await api.upload(file, () => undefined, 'admin/store/add_backup').answer;
        onChanged();
        void restore(id);
        return '';
      } catch (error) {
        if (error instanceof Refused && !error.needsLogin) return error.message;
        connection.report(error);
        return t('The file was not sent.');
      }
    },
  };
}
