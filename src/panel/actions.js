import { Refused } from './api.js';
import { createBackupActions } from './backup-actions.js';
import { t } from './i18n.js';
import {
  installWords,
  removeWords,
  upgradeAllWords,
  undoWords,
  upgradeWords,
  uploadWords,
} from './plan-words.js';
import { createUnfinished } from './unfinished.js';
import { confirm } from './views/dialogs/confirm.js';

/**
 * What people can do. Each of those that begin a task resolves to whether the daemon accepted it.
 * @param plan asks with what a change of packages is made of
 * @param onChanged called when something was changed without a task
 * @param onTask gets the id of a task that began, and what is known of it: `{ kind, package }`
 */
export function createActions({ api, notices, connection, tasks, plan, onTask, onChanged }) {
  const follow = async ({ code, stderr, task_id: id }, task) => {
    if (code !== 0) throw new Refused(stderr);
    notices.hide('refused');
    if (tasks.get(id) === undefined) {
      tasks.merge(id, { running: true, state: 'queued', command: '', ...task });
    }
    onTask(id, task);
  };
  const submit = async (operation, parameters = {}, task = {}) => {
    try {
      const { package: name = '', confirm_s } = parameters;
      const known = { kind: operation, package: name, confirm_s, ...task };
      await follow(await api.post(`admin/store/${operation}`, parameters), known);
      return true;
    } catch (error) {
      connection.report(error);
      return false;
    }
  };
  const actions = {
    ...createChanges({ plan, submit }),
    ...createUndoActions({ api, plan, submit, tasks, connection }),
    ...createBackupActions({ api, plan, submit, connection, onChanged, confirmLoss }),
    hold: createHold({ api, connection, onChanged }),
    update: () => submit('update'),
    updateEvery: (hours) => submit('update', { every_h: String(hours) }),
    upgradeSelf: () => submit('do_self_upgrade', {}, { kind: 'self-upgrade' }),
    autoconf: (parameters) => submit('autoconf', parameters),
    feed: (operation, parameters) => submit(operation, parameters, { package: parameters.name }),
    /** A task once more, with its plan if it has one. */
    retry: ({ kind, package: name }) => {
      const app = { name };
      if (kind === 'upgrade' && name === '') return actions.upgradeAll();
      return RETRIED.includes(kind) ? actions[kind](app) : undefined;
    },
    canRetry: ({ kind }) => RETRIED.includes(kind),
    move: async (parameters) => {
      const text = t('What is in this folder now is deleted.');
      const title = t('Replace what is in {path}?', parameters);
      if (
        parameters.overwrite !== 'true' ||
        (await confirmLoss({ title, text, yes: t('Replace') }))
      ) {
        await submit('docker_migrate', parameters, { kind: 'migrate', package: parameters.path });
      }
    },
    undo: async ({ id, file }) => {
      const title = t('Remove what {file} brought?', { file });
      const text = t(
        'The packages that came with this file go, but for those that something else needs.',
      );
      if (await confirmLoss({ title, text, yes: t('Remove') })) {
        await submit('unrun', { id }, { package: file });
      }
    },
    removeFeed: async ({ name }) => {
      const title = t('Remove the feed {name}?', { name });
      const text = t('What was installed from it stays, and is not upgraded any more.');
      if (await confirmLoss({ title, text, yes: t('Remove') })) {
        await actions.feed('remove_feed', { name });
      }
    },
    upload: createUpload({ api, plan, submit, connection }),
    stop: (id) =>
      api
        .post('admin/system/tasks/stop', { task_id: id })
        .then(() => tasks.merge(id, { isStopping: true }), connection.report),
    logOut: () =>
      api.post('admin/logout').then(() => location.replace(api.loginPage), connection.report),
  };
  const asking = QUESTIONS.map((name) => [name, actions[name]]);
  const unfinished = createUnfinished(Object.fromEntries(asking));
  return { ...actions, ...unfinished.questions, unfinished };
}

const QUESTIONS = [
  ...['install', 'upgrade', 'upgradeAll', 'remove', 'move', 'undo', 'undoTask', 'removeFeed'],
  ...['restore', 'removeBackup'],
];

/** A file waits on the device until somebody has seen what it would do. */
function createUpload({ api, plan, submit, connection }) {
  return (file, onProgress) => {
    const { answer, cancel } = api.upload(file, onProgress);
    const decide = async ({ file: id }) => {
      const isWanted = await plan.ask({ operation: 'upload', file: id }, uploadWords(file));
      if (isWanted) await submit('install_file', { id }, { kind: 'upload', package: file.name });
      // Without an answer it goes by itself.
      else await api.post('admin/store/drop_file', { id }).catch(() => undefined);
    };
    return {
      answer: answer
        .then((body) => {
          if (body !== undefined) void decide(body);
          return body && '';
        })
        .catch((error) => problemText(connection, error)),
      cancel,
    };
  };
}

/** Holds an app at its version, or lets it go: done when it is answered. */
function createHold({ api, connection, onChanged }) {
  return ({ name }, isHeld) =>
    api
      .post(`admin/store/${isHeld ? 'hold' : 'release'}`, { package: name })
      .then(onChanged, connection.report);
}

/** Changes of packages, each with its plan first. */
function createChanges({ plan, submit }) {
  /** @param query what the plan and the operation are asked with, but for the operation's name */
  const change = async (operation, query, { words, app }) => {
    const extra = await plan.ask({ operation, ...query }, words, app);
    return extra !== undefined && submit(operation, { ...query, ...extra });
  };
  return {
    install: (app) => change('install', { package: app.name }, { words: installWords(app), app }),
    upgrade: (app) => change('upgrade', { package: app.name }, { words: upgradeWords(app) }),
    upgradeAll: () => change('upgrade', { all: 'true' }, { words: upgradeAllWords() }),
    remove: (app) => {
      // The device stands on it: its own page says what stops, and the dialog asks for its name.
      const query = { package: app.name, ...(app.stops !== undefined && { system: '1' }) };
      return change('remove', query, { words: removeWords(app) });
    },
  };
}

function createUndoActions({ api, plan, submit, tasks, connection }) {
  return {
    /** @param task one that can be undone, with its title */
    undoTask: async (task) => {
      const query = { task_id: task.id };
      const extra = await plan.ask({ operation: 'undo', ...query }, undoWords(task));
      if (extra !== undefined) {
        await submit('undo', { ...query, ...extra }, { package: task.package });
      }
    },
    /** Keeps what would go back by itself. */
    keepTask: (id) =>
      api
        .post('admin/store/confirm', { task_id: id })
        .then(() => tasks.merge(id, { confirm_by: undefined }), connection.report),
  };
}

const RETRIED = ['install', 'remove', 'upgrade', 'update'];

/** @returns what to show beside the form; what concerns the whole page is shown at its head */
function problemText(connection, error) {
  if (error instanceof Refused && !error.needsLogin) return error.message;
  connection.report(error);
  return t('The file was not sent.');
}

function confirmLoss(words) {
  return confirm({ ...words, no: t('Keep it'), isDangerous: true });
}
