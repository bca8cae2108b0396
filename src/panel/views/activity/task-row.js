import { button, element, icon, setText, textElement } from '../../dom.js';
import { daemonText, t } from '../../i18n.js';
import { setDisabled } from '../../permission.js';
import { problemBox, withoutId } from '../../problems.js';
import { ago, progressLine, span, stateWord } from '../../words.js';

/**
 * One task: what it does, how far it is, why it failed, and its log if it is open.
 * @param toggle opens or closes it
 * @param titleOf what people call a task
 * @param on `stop` and the actions of problems; `retry` gets the task
 */
export function createTaskRow({ id }, { toggle, on, titleOf }) {
  const title = element('span', { className: 'task-title' });
  const when = element('span', { className: 'task-when' });
  const chip = element('span', { className: 'chip' });
  const head = element(
    'button',
    { type: 'button', className: 'task-head', onclick: () => toggle(id) },
    [icon('turn'), title, chip, when],
  );
  const doing = createDoing(id, { on, titleOf });
  const failure = createFailure(on);
  const undo = createUndo(on, titleOf);
  const slot = element('div', { className: 'slot' });
  const row = element('li', { className: 'task card' }, [
    element('h3', { className: 'task-heading' }, [head]),
    doing.element,
    failure.element,
    undo.element,
    slot,
  ]);

  const update = (task) => {
    row.classList.toggle('is-open', task.isOpen);
    row.dataset.state = task.state;
    head.setAttribute('aria-expanded', String(task.isOpen));
    setText(title, titleOf(task));
    setText(chip, isNothingDone(task) ? t('Nothing to do') : stateWord(task.state));
    chip.dataset.state = isNothingDone(task) ? 'queued' : task.state;
    setText(when, whenOf(task));
    doing.update(task);
    failure.update(task);
    undo.update(task);
    if (slot.firstElementChild !== (task.log ?? null)) {
      slot.replaceChildren(...(task.log === undefined ? [] : [task.log]));
    }
  };
  return { element: row, update };
}

/** An upgrade of what is current changes nothing. */
export function isNothingDone({ state, kind, packages }) {
  return state === 'done' && kind === 'upgrade' && (packages ?? []).length === 0;
}

function createDoing(id, { on, titleOf }) {
  const progress = element('p', { className: 'progress' });
  const bar = element('progress', { max: 1, 'aria-label': t('Done so far') });
  const stop = button({
    symbol: 'stop',
    text: t('Stop'),
    className: 'stop',
    onclick: () => on.stop(id),
    isWrite: true,
  });
  const box = element('div', { className: 'doing' }, [
    element('div', { className: 'grow' }, [progress, bar]),
    stop,
  ]);
  const update = (task) => {
    box.hidden = !task.running;
    if (!task.running) return;
    bar.hidden = task.state === 'queued';
    setText(progress, task.isStopping === true ? t('Stopping …') : progressOf(task, titleOf));
    setProgress(bar, task);
    stop.setAttribute('aria-label', t('Stop: {task}', { task: titleOf(task) }));
    setDisabled(stop, task.isStopping === true);
  };
  return { element: box, update };
}

function progressOf(task, titleOf) {
  if (task.state !== 'queued') return progressLine(task);
  return task.before === undefined
    ? t('Its turn comes after the tasks before it')
    : t('Waits for: {task}', { task: titleOf(task.before) });
}

export function hasFailed({ running, state, error }) {
  return !running && state !== 'done' && error !== undefined;
}

/** What has ended can be taken back, or says why not when it is open. */
function createUndo(on, titleOf) {
  let current;
  const undo = button({
    text: t('Undo'),
    className: 'quiet',
    onclick: () => on.undoTask({ ...current, title: titleOf(current) }),
    isWrite: true,
  });
  const keep = button({
    text: t('Keep the change'),
    onclick: () => on.keepTask(current.id),
    isWrite: true,
  });
  const why = element('span', { className: 'problem-remedy' });
  const box = element('div', { className: 'undo' }, [undo, keep, why]);
  const update = (task) => {
    current = task;
    const text = task.running ? '' : undoText(task);
    undo.hidden = task.can_undo !== true;
    keep.hidden = task.confirm_by === undefined;
    box.hidden = task.running || (undo.hidden && keep.hidden && text === '');
    undo.setAttribute('aria-label', t('Undo: {subject}', { subject: titleOf(task) }));
    setText(why, text);
  };
  return { element: box, update };
}

function undoText(task) {
  if (task.confirm_by !== undefined) return t('It goes back by itself unless it is kept.');
  // What failed has said already that nothing was left behind.
  const isNothing =
    hasFailed(task) && leftBy(task).length > 0 && (task.packages ?? []).length === 0;
  if (task.can_undo !== false || !task.isOpen || isNothing) return '';
  return t('It cannot be undone: {reason}', { reason: withoutId(daemonText(task.no_undo)) });
}

/** Cause and remedy of a task that did not end well: in sight of the newest, else at a click. */
function createFailure(on) {
  const box = element('div', { className: 'failure' });
  const update = (task) => {
    const isBad = hasFailed(task);
    box.hidden = !isBad || !(task.isNewestFailure || task.isOpen);
    const shown = isBad ? `${task.error_code} ${task.error}` : '';
    if (box.dataset.shown === shown) return;
    box.dataset.shown = shown;
    box.replaceChildren(
      ...(isBad ? [problemBox(problemOf(task), actionsFor(task, on), leftBy(task))] : []),
    );
  };
  return { element: box, update };
}

/** A change of packages that failed is taken back; what could not be is named. */
function leftBy({ kind, packages = [] }) {
  if (!['install', 'upgrade', 'remove', 'upload'].includes(kind)) return [];
  const text =
    packages.length === 0
      ? t('Nothing was left behind: all is as it was before.')
      : t('Changed all the same: {names}', { names: packages.join(', ') });
  return [textElement('p', text, 'problem-remedy')];
}

function problemOf({ error_code: code = 'unknown', error, remedy, package: name }) {
  return { code, message: error, remedy, ...(name ? { package: name } : {}) };
}

function actionsFor(task, on) {
  const { retry, ...others } = on.remedies;
  return on.canRetry(task) ? { ...others, retry: () => retry(task) } : others;
}

function whenOf({ running, state, start, stop }) {
  if (running) {
    return state === 'running' && start > 0
      ? t('for {span}', { span: span(Date.now() / 1000 - start) })
      : '';
  }
  return [ago(stop ?? start), stop > start ? t('took {span}', { span: span(stop - start) }) : '']
    .filter(Boolean)
    .join(' · ');
}

/** Without a value the bar says only that something goes on. */
function setProgress(bar, { progress }) {
  if (progress?.percent !== undefined) bar.value = progress.percent / 100;
  else bar.removeAttribute('value');
}
