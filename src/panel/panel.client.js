import { createActions } from './actions.js';
import { createApi } from './api.js';
import { createConnection } from './connection.js';
import { button, byId } from './dom.js';
import { createEmbedding } from './embedding.js';
import { fillLanguages, setLanguage, t } from './i18n.js';
import { createKnownApps } from './known-apps.js';
import { createNotices } from './notices.js';
import { causeOf } from './problems.js';
import { createRouter } from './router.js';
import { createTasks } from './tasks.js';
import { createAftermath } from './undo.js';
import { createViews } from './views.js';
import { createPlanDialog } from './views/dialogs/plan-dialog.js';
import { isNothingDone } from './views/activity/task-row.js';
import { stateWord } from './words.js';

/** Pause between questions for a task's progress: events say only that it begins and ends. */
const PROGRESS_MS = 2000;
/** This often the words for times are made new. */
const CLOCK_MS = 30_000;
/** A first view that is not there after this is not waited for. */
const FIRST_VIEW_MS = 1000;
const SEEN_IN_PLACE = ['install', 'remove', 'upgrade', 'update', 'backup'];

void start();

async function start() {
  await setLanguage();
  const api = createApi();
  const notices = createNotices();
  const onChange = () => {
    views.renderCurrent();
    views.showRunning();
    aftermath.check();
  };
  const tasks = createTasks({ onChange, onEnd: handleEnd });
  const embedding = createEmbedding({ onLoggedIn: () => connection.resume() });
  const connection = createConnection({
    api,
    notices,
    embedding,
    onUp: () => void refresh(),
    onJob: ({ task_id: id, ...task }) => tasks.merge(id, task),
    poll: () => views.activity.poll(),
    onLeave: () => act.unfinished.keep(),
  });
  const apps = createKnownApps({ api, onChange: () => views.renderCurrent() });
  const leadOn = {
    update: () => act.update(),
    free: () => router.go('#installed/size'),
    feeds: () => router.go('#device/feeds'),
    doctor: () => router.go('#device/doctor'),
    release: ({ package: name }) => act.hold({ name }, false),
  };
  const act = createActions({
    api,
    notices,
    connection,
    tasks,
    plan: createPlanDialog({ api, leadOn, onRemovable: (item) => act.remove(item) }),
    onChanged: () => void views.reload(),
    onTask: (id, { kind, confirm_s: seconds }) => {
      if (seconds !== undefined) aftermath.expect(id);
      void views.activity.load();
      // What is seen where it was asked for stays there; all else is followed in its log.
      if (SEEN_IN_PLACE.includes(kind)) views.activity.expect(id);
      else showTask(id);
    },
  });
  const aftermath = createAftermath({ api, notices, tasks, apps, undo: act.undoTask });
  const on = { ...act, remedies: { ...leadOn, retry: act.retry }, showTask };
  const views = createViews({ api, tasks, apps, on, report: connection.report });
  const router = createRouter(views.byName);

  function showTask(id) {
    router.go(`#activity/${id}`);
  }
  /** What is in sight was asked for at the start already. */
  let isFirst = true;
  async function refresh() {
    const load = isFirst ? views.loadOthers : views.reload;
    isFirst = false;
    // On a slow processor whatever is asked for meanwhile delays what somebody waits for.
    await Promise.race([firstView, pause(FIRST_VIEW_MS)]);
    const session = api.readSession().then(goOn, connection.report);
    await Promise.all([session, apps.load(connection.report), load()]);
  }
  function goOn() {
    views.renderCurrent();
    act.unfinished.goOn();
  }
  function handleEnd(task) {
    embedding.sayChanged();
    const title = apps.titleOfTask(task);
    notices.announce(t('{task}: {state}', { task: title, state: endWord(task) }));
    if (router.current() !== 'activity') {
      showFailure(notices, { ...task, title }, () => showTask(task.id));
    }
    aftermath.offer({ ...task, title });
    if (task.kind === 'self-upgrade' && task.state === 'done') offerReload(notices);
    void apps.load(connection.report);
    void views.reload();
  }

  views.onRoute(router.current);
  act.unfinished.restore();
  const firstView = router.start();
  fillPage({ act, tasks, views, connection, notices, router });
}

function fillPage({ act, tasks, views, connection, notices, router }) {
  if (router.current() === 'discover') focusSearch(byId('discover-search'));
  fillHead(act);
  fillLanguages();
  keepUpToDate({ tasks, views, connection });
  hideWhatActivitySays(notices, router);
}

/** Whoever looks for something types at once; a finger would get a keyboard over the page. */
function focusSearch(field) {
  const isTouched = matchMedia('(pointer: coarse)').matches;
  if (!isTouched && document.activeElement === document.body) field.focus({ preventScroll: true });
}

function endWord(task) {
  return isNothingDone(task) ? t('Nothing to do') : stateWord(task.state);
}

/** Activity says itself what failed. */
function hideWhatActivitySays(notices, router) {
  addEventListener('hashchange', () => {
    if (router.current() === 'activity') notices.hide('failed');
  });
}

function fillHead({ update, logOut }) {
  for (const id of ['update', 'updates-refresh']) byId(id).addEventListener('click', update);
  byId('logout').addEventListener('click', logOut);
  byId('host').textContent = location.hostname;
  // What stands behind the # is the view.
  document.querySelector('.skip').addEventListener('click', (event) => {
    event.preventDefault();
    byId('main').focus();
  });
}

function keepUpToDate({ tasks, views, connection }) {
  setInterval(() => {
    if (document.hidden || tasks.countRunning() === 0) return;
    void views.activity.load();
  }, PROGRESS_MS);
  setInterval(() => views.renderCurrent(), CLOCK_MS);
  document.addEventListener('visibilitychange', () => {
    for (const view of [views.activity, connection]) {
      document.hidden ? view.pause() : view.resume();
    }
  });
}

function showFailure(notices, task, onShow) {
  if (!['failed', 'interrupted'].includes(task.state)) return;
  notices.show({
    topic: 'failed',
    tone: 'bad',
    text: t('{task} failed: {reason}', { task: task.title, reason: causeOf(task.error ?? '') }),
    action: button({ text: t('Show'), onclick: onShow }),
  });
}

/** The page is the old version's until then. */
function offerReload(notices) {
  notices.show({
    topic: 'upgraded',
    tone: 'good',
    text: t('depotd was upgraded, and has a new page.'),
    action: button({ text: t('Load it'), onclick: () => location.reload() }),
  });
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
