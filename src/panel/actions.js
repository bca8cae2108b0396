import { Refused } from './api.js';
import { t } from './i18n.js';
import { titleOf as appTitleOf } from './views/apps-view.js';
import { confirm } from './views/confirm.js';

/** What people can do. Each of those that begin a task tells whether the daemon took it. */
export function createActions({ api, notices, connection, tasks, onTask }) {
  const follow = async ({ code, stderr, task_id: id }) => {
    if (code !== 0) throw new Refused(stderr);
    notices.hide('refused');
    await onTask(id);
  };
  const submit = async (operation, parameters = {}) => {
    try {
      await follow(await api.post(`admin/store/${operation}`, parameters));
      return true;
    } catch (error) {
      connection.report(error);
      return false;
    }
  };
  return {
    install: (parameters) => submit('install', parameters),
    upgrade: ({ name }) => submit('upgrade', { package: name }),
    update: () => submit('update'),
    upgradeSelf: () => submit('do_self_upgrade'),
    move: async (parameters) => {
      const text = t('What is in this folder now is deleted.');
      if (
        parameters.overwrite !== 'true' ||
        (await confirmLoss(t('Replace what is in {path}?', parameters), text, t('Replace')))
      ) {
        await submit('docker_migrate', parameters);
      }
    },
    remove: async (app) => {
      const title = t('Remove {app}?', { app: appTitleOf(app) });
      const text = t(
        'The app goes, and with it the packages that came with it and that nothing else needs.',
      );
      if (await confirmLoss(title, text, t('Remove'))) {
        await submit('remove', { package: app.name });
      }
    },
    undo: async ({ id, file }) => {
      const text = t(
        'The packages that came with this file go, but for those that something else needs.',
      );
      if (await confirmLoss(t('Remove what {file} brought?', { file }), text, t('Remove'))) {
        await submit('unrun', { id });
      }
    },
    upload: (file, onProgress) => {
      const { answer, cancel } = api.upload(file, onProgress);
      return {
        answer: answer
          .then((body) => body && follow(body).then(() => ''))
          .catch((error) => problemText(connection, error)),
        cancel,
      };
    },
    stop: (id) =>
      api
        .post('admin/system/tasks/stop', { task_id: id })
        .then(() => tasks.merge(id, { isStopping: true }), connection.report),
    logOut: () =>
      api.post('admin/logout').then(() => location.replace(api.loginPage), connection.report),
  };
}

/** @returns what to show beside the form; what concerns the whole page is shown at its head */
function problemText(connection, error) {
  if (error instanceof Refused && !error.needsLogin) return error.message;
  connection.report(error);
  return t('The file was not sent.');
}

function confirmLoss(title, text, yes) {
  return confirm({ title, text, yes, no: t('Keep it'), isDangerous: true });
}
