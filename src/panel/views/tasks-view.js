import { byId, createRows, element, icon, iconButton, setText } from '../dom.js';
import { t } from '../i18n.js';
import { createLogView } from './log-view.js';
import { ago, progressLine, span, stateWord, titleOf } from '../words.js';

/** So many tasks are shown until somebody asks for all. */
const FEW = 12;

/** The tasks, newest first. One at a time is open and shows its log. */
export function createTasksView({ api, tasks, onStop }) {
  const list = byId('tasks-list');
  const state = byId('tasks-state');
  const more = byId('tasks-more');
  let openId;
  let log;
  let most = FEW;

  const open = (id) => {
    log?.close();
    openId = id;
    log =
      id === undefined
        ? undefined
        : createLogView({
            api,
            task: tasks.get(id),
            onStatus: (status) => tasks.merge(id, status),
          });
    render();
  };
  const toggle = (id) => open(id === openId ? undefined : id);
  const show = createRows(list, {
    keyOf: ({ id }) => id,
    create: (task) => createRow(task, { toggle, onStop }),
  });
  const render = () => {
    const all = tasks.newestFirst();
    show(
      all
        .slice(0, most)
        .map((task) => ({ ...task, log: task.id === openId ? log.element : undefined })),
    );
    state.hidden = all.length > 0;
    setText(
      state,
      !tasks.isLoaded()
        ? t('Loading …')
        : t('Nothing has been done yet. What you install, upgrade or remove shows up here.'),
    );
    more.hidden = all.length <= most;
    setText(more, t('Show all {count}', { count: all.length }));
  };
  more.addEventListener('click', () => {
    most = Infinity;
    render();
  });

  return {
    render,
    /** Opens a task's log and brings it into view. */
    open: (id) => {
      if (openId !== id) open(id);
      // On a phone the tasks are below the apps, and the log still grows.
      const block = matchMedia('(min-width: 60rem)').matches ? 'nearest' : 'start';
      list.querySelector('.is-open')?.scrollIntoView({ block, behavior: 'smooth' });
    },
    pause: () => log?.pause(),
    resume: () => log?.resume(),
  };
}

function createRow({ id }, { toggle, onStop }) {
  const title = element('span', { className: 'task-title' });
  const when = element('span', { className: 'task-when' });
  const chip = element('span', { className: 'chip' });
  const head = element(
    'button',
    { type: 'button', className: 'task-head', onclick: () => toggle(id) },
    [icon('turn'), title, chip, when],
  );
  const stop = iconButton({
    symbol: 'stop',
    text: t('Stop'),
    className: 'stop',
    onclick: () => onStop(id),
  });
  const progress = element('p', { className: 'progress' });
  const bar = element('progress', { max: 1 });
  const problem = element('p', { className: 'problem' });
  const slot = element('div', { className: 'slot' });
  const doing = element('div', { className: 'doing' }, [
    element('div', { className: 'grow' }, [progress, bar]),
    stop,
  ]);
  const row = element('li', { className: 'task card' }, [head, doing, problem, slot]);

  const update = (task) => {
    const isOpen = task.log !== undefined;
    row.classList.toggle('is-open', isOpen);
    row.dataset.state = task.state;
    head.setAttribute('aria-expanded', String(isOpen));
    setText(title, titleOf(task));
    setText(chip, stateWord(task.state));
    chip.dataset.state = task.state;
    setText(when, whenOf(task));
    doing.hidden = !task.running;
    setText(
      progress,
      task.isStopping === true
        ? t('Stopping …')
        : progressLine(task) || t('Its turn comes after the tasks before it'),
    );
    setProgress(bar, task);
    stop.setAttribute('aria-label', t('Stop: {task}', { task: titleOf(task) }));
    stop.disabled = task.isStopping === true;
    problem.hidden = task.running || task.error === undefined;
    setText(problem, task.error ?? '');
    if (slot.firstElementChild !== (task.log ?? null)) {
      slot.replaceChildren(...(isOpen ? [task.log] : []));
    }
  };
  return { element: row, update };
}

function whenOf({ running, state, start, stop }) {
  if (running) {
    return state === 'running' ? t('for {span}', { span: span(Date.now() / 1000 - start) }) : '';
  }
  return [ago(stop ?? start), stop > start ? t('took {span}', { span: span(stop - start) }) : '']
    .filter(Boolean)
    .join(' · ');
}

/** Without a value the bar says only that something goes on. */
function setProgress(bar, { progress }) {
  if (progress?.total > 0) bar.value = progress.done / progress.total;
  else bar.removeAttribute('value');
  bar.setAttribute('aria-label', t('Steps done'));
}
