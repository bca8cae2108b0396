import { createActions } from './actions.js';
import { createApi } from './api.js';
import { createAppsView } from './views/apps-view.js';
import { createConnection } from './connection.js';
import { byId, element } from './dom.js';
import { createEmbedding } from './embedding.js';
import { setLanguage, t } from './i18n.js';
import { createInstallForm } from './views/install-form.js';
import { createNotices } from './notices.js';
import { createRecordsView } from './views/records-view.js';
import { createSelfUpgrade } from './self-upgrade.js';
import { createStorageView } from './views/storage-view.js';
import { createTaskList } from './views/task-list.js';
import { createTasksView } from './views/tasks-view.js';
import { createUploadForm } from './views/upload-form.js';
import { stateWord, titleOf } from './words.js';

/**
 * While a task runs, its progress is asked for this often: device events tell of beginnings and
 * ends.
 */
const PROGRESS_MS = 2000;
/** And this often the words for times are made new. */
const CLOCK_MS = 30_000;

start();

function start() {
  setLanguage();
  const api = createApi();
  const notices = createNotices();
  const tasks = createTaskList({ onChange: () => render(), onEnd: handleEnd });
  let apps;

  const embedding = createEmbedding({ onLoggedIn: () => connection.resume() });
  const connection = createConnection({
    api,
    notices,
    embedding,
    onUp: () => void refresh(),
    onJob: ({ task_id: id, ...task }) => tasks.merge(id, task),
    poll: loadTasks,
  });
  const act = createActions({
    api,
    notices,
    connection,
    tasks,
    onTask: async (id) => {
      await loadTasks();
      tasksView.open(id);
    },
  });
  const tasksView = createTasksView({ api, tasks, onStop: act.stop });
  const showApps = createAppsView({
    tasks,
    // A device that is gone is told elsewhere.
    loadIcon: (name) => api.icon(name).catch(() => undefined),
    onUpgrade: act.upgrade,
    onRemove: act.remove,
    onShowTask: (id) => tasksView.open(id),
  });
  const records = createRecordsView({ api, report: connection.report, onUndo: act.undo });
  const storage = createStorageView({ api, report: connection.report, onMove: act.move });
  const self = createSelfUpgrade({ api, report: connection.report, onUpgrade: act.upgradeSelf });

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
    await Promise.all([
      loadTasks(),
      loadApps(),
      self.showVersion(),
      records.load(),
      storage.load(),
    ]).catch(connection.report);
  }
  function handleEnd(task) {
    notices.announce(`${titleOf(task)}: ${stateWord(task.state)}`);
    if (task.kind === 'self-upgrade' && task.state === 'done') offerReload(notices);
    void Promise.all([loadApps(), records.load(), storage.load()]).catch(connection.report);
  }

  createInstallForm({ onInstall: act.install });
  createUploadForm({ onSend: act.upload });
  byId('update').addEventListener('click', act.update);
  byId('logout').hidden = api.loginPage === undefined || embedding.isLoggedInByParent;
  byId('logout').addEventListener('click', act.logOut);
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

/** The page is the old version's until then. */
function offerReload(notices) {
  const action = element('button', { type: 'button', onclick: () => location.reload() }, [
    t('Load it'),
  ]);
  notices.show({
    topic: 'upgraded',
    tone: 'good',
    text: t('depotd was upgraded, and has a new page.'),
    action,
  });
}
