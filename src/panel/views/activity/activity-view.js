import { byId, createRows, setText } from '../../dom.js';
import { t } from '../../i18n.js';
import { createLoader } from '../../loader.js';
import { packageOf } from '../../words.js';
import { createLogView } from './log-view.js';
import { createTaskRow, hasFailed } from './task-row.js';

/** So many tasks are shown until somebody asks for all. */
const FEW = 20;

/**
 * The tasks: what runs, what waits, and what was. One at a time is open and shows its log.
 * @param on what is done: `stop`, and the actions of problems
 */
export function createActivityView({ api, tasks, on, report, apps }) {
  const list = byId('activity-list');
  const more = byId('activity-more');
  let openId;
  let log;
  let most = FEW;
  let expected;

  const showRows = createRows(list, {
    keyOf: ({ id }) => id,
    create: (task) => createTaskRow(task, { toggle, on, titleOf: apps.titleOfTask }),
    fallback: byId('activity-title'),
  });
  const loader = createTaskLoader({ api, tasks, onGone: report });
  const close = () => {
    log?.close();
    log = undefined;
    openId = undefined;
  };
  /** A task that waits has no log yet; it is shown as soon as there is one. */
  const beginLog = () => {
    const task = tasks.get(openId);
    if (log !== undefined || task === undefined || task.state === 'queued') return;
    const onStatus = (status) => tasks.merge(task.id, status);
    log = createLogView({ api, task, title: apps.titleOfTask(task), onStatus, report });
  };
  const open = (id) => {
    if (openId === id) return;
    close();
    openId = id;
    render();
  };
  const toggle = (id) => {
    if (openId !== id) return open(id);
    close();
    return render();
  };
  const render = () => {
    beginLog();
    const all = tasks.ordered();
    const running = all.find((task) => task.running);
    const newestFailure = all.find(hasFailed);
    void apps.learnTitles(all.slice(0, most).map(packageOf).filter(Boolean));
    showRows(
      all.slice(0, most).map((task) => ({
        ...task,
        isOpen: task.id === openId,
        isNewestFailure: task === newestFailure,
        log: task.id === openId ? log?.element : undefined,
        before: running?.id === task.id ? undefined : running,
      })),
    );
    byId('activity-empty').hidden = all.length > 0 || !tasks.isLoaded();
    more.hidden = all.length <= most;
    setText(more, t('Show all {count}', { count: all.length }));
  };
  more.addEventListener('click', () => {
    most = Infinity;
    render();
  });

  return {
    /** @param id of the task whose log is to be shown, if any */
    show: (id) => {
      const wanted = id || expected;
      expected = undefined;
      if (wanted !== undefined) open(wanted);
      render();
      list.querySelector('.is-open')?.scrollIntoView({ block: 'nearest' });
      if (!tasks.isLoaded()) void loader.load();
    },
    load: loader.load,
    /** The task is open when somebody comes to look. */
    expect: (id) => {
      if (byId('view-activity').hidden) expected = id;
      else open(id);
    },
    /** Asks once. @throws Error that says why there is no answer */
    poll: loader.ask,
    render,
    pause: () => log?.pause(),
    resume: () => log?.resume(),
  };
}

function createTaskLoader({ api, tasks, onGone }) {
  const ask = async (signal) => {
    const askedAt = tasks.now();
    const answer = await api.get('admin/system/tasks/status', {}, { signal });
    if (signal?.aborted !== true) tasks.replace(answer, askedAt);
  };
  const loader = createLoader({ state: byId('activity-state'), load: ask, onGone });
  return { load: loader.load, ask: () => ask() };
}
