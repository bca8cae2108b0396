import { createApi, Refused } from './api.js';
import { createAppsView, titleOf as appTitleOf } from './apps-view.js';
import { byId } from './dom.js';
import { createInstallForm } from './install-form.js';
import { createConnection } from './connection.js';
import { createNotices } from './notices.js';
import { createTaskList } from './task-list.js';
import { createTasksView } from './tasks-view.js';
import { stateWord, titleOf } from './words.js';

/** While a task runs, its progress is asked for this often: device events tell of beginnings and ends. */
const PROGRESS_MS = 2000;
/** And this often the words for times are made new. */
const CLOCK_MS = 30_000;

start();

function start() {
  const api = createApi();
  const notices = createNotices();
  const tasks = createTaskList(() => render());
  let apps;

  const connection = createConnection({ api, notices, onUp: () => void refresh(), onJob: takeJob });
  const act = createActions({ api, notices, connection, tasks, onTask: async (id) => {
    await loadTasks();
    tasksView.open(id);
  } });
  const tasksView = createTasksView({ api, tasks, onStop: act.stop });
  const showApps = createAppsView({ tasks, onUpgrade: act.upgrade, onRemove: act.remove, onShowTask: (id) => tasksView.open(id) });

  function render() {
    showApps(apps);
    tasksView.render();
  }
  async function loadTasks() {
    tasks.replace(await api.get('admin/system/tasks/status'));
  }
  async function loadApps() {
    apps = await api.get('admin/store/installed');
    render();
  }
  async function refresh() {
    await Promise.all([loadTasks(), loadApps()]).catch(connection.report);
  }
  function takeJob({ task_id: id, ...task }) {
    const wasRunning = tasks.get(id)?.running ?? true;
    tasks.merge(id, task);
    if (task.running || !wasRunning) return;
    notices.announce(`${titleOf(task)}: ${stateWord(task.state)}`);
    void loadApps().catch(connection.report);
  }

  createInstallForm({ onInstall: act.install });
  byId('update').addEventListener('click', act.update);
  byId('host').textContent = location.hostname;
  setInterval(() => {
    if (document.hidden || !tasks.isAnyRunning()) return;
    void loadTasks().catch(connection.report);
  }, PROGRESS_MS);
  setInterval(render, CLOCK_MS);
  document.addEventListener('visibilitychange', () => {
    const views = [tasksView, connection];
    for (const view of views) document.hidden ? view.pause() : view.resume();
  });
}

/** What people can do. Each tells whether the daemon took it. */
function createActions({ api, notices, connection, tasks, onTask }) {
  const submit = async (operation, parameters = {}) => {
    try {
      const { code, stderr, task_id: id } = await api.post(`admin/store/${operation}`, parameters);
      if (code !== 0) throw new Refused(stderr);
      notices.hide('refused');
      await onTask(id);
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
    remove: async (app) => {
      if (await confirmRemoval(app)) await submit('remove', { package: app.name });
    },
    stop: (id) => api.post('admin/system/tasks/stop', { task_id: id }).then(() => tasks.merge(id, { isStopping: true }), connection.report),
  };
}

function confirmRemoval(app) {
  const dialog = byId('confirm');
  byId('confirm-title').textContent = `Remove ${appTitleOf(app)}?`;
  byId('confirm-text').textContent = 'The app goes, and with it the packages that came with it and that nothing else needs.';
  dialog.returnValue = 'no';
  dialog.showModal();
  return new Promise((resolve) => dialog.addEventListener('close', () => resolve(dialog.returnValue === 'yes'), { once: true }));
}
