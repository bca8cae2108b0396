import { byId, element, factRows, setHidden, setText, textElement } from '../../dom.js';
import { daemonText, t } from '../../i18n.js';
import { createLoader } from '../../loader.js';
import { ago, size, until } from '../../words.js';

/** The card is kept up to date while it is in sight: this often, and while an action goes on. */
const SHOWN_MS = 30_000;
const UNDER_WAY_MS = 3000;
const UNDER_WAY = ['downloading', 'installing'];

/**
 * The server that rolls out to this device: when it was asked, what it wants, and its switch.
 * Nothing of it is in sight unless one is set.
 */
export function createFleet({ api, report }) {
  const box = byId('fleet');
  const controls = createControls({ api, report, onAnswer: show });
  let timer;

  function show(status) {
    box.hidden = !status.is_configured;
    if (box.hidden) return;
    const { is_on: isOn, last_error: error } = status;
    const chip = byId('fleet-chip');
    setText(chip, isOn ? t('Switched on') : t('Switched off'));
    chip.dataset.state = isOn ? 'done' : 'queued';
    setText(
      byId('fleet-problem'),
      isOn && error ? t('The last poll failed: {reason}', { reason: daemonText(error) }) : '',
    );
    byId('fleet-facts').replaceChildren(...factsOf(status));
    showAction(status.action);
    controls.show(status);
    const pause = UNDER_WAY.includes(status.action?.state) ? UNDER_WAY_MS : SHOWN_MS;
    clearTimeout(timer);
    timer = setTimeout(() => box.checkVisibility() && loader.load(), pause);
  }
  const loader = createLoader({
    state: byId('fleet-state'),
    load: async (signal) => {
      const status = await api.get('admin/fleet/status', {}, { signal });
      if (!signal.aborted) show(status);
    },
    onGone: report,
  });
  return { load: loader.load, hide: () => clearTimeout(timer) };
}

/** Controls of the fleet: each answers how it is then, and none is asked twice at once. */
function createControls({ api, report, onAnswer }) {
  const title = byId('fleet-title');
  const agree = byId('fleet-agree');
  const decline = byId('fleet-decline');
  const poll = byId('fleet-poll');
  const change = byId('fleet-switch');
  let shown;
  const underWay = new Set();

  const send = async (operation, parameters = {}) => {
    if (underWay.has(operation)) return;
    underWay.add(operation);
    setText(byId('fleet-doing'), t('Working …'));
    try {
      onAnswer(await api.post(`admin/fleet/${operation}`, parameters));
    } catch (error) {
      report(error);
    }
    underWay.delete(operation);
    if (underWay.size === 0) setText(byId('fleet-doing'), '');
  };
  const answer = (isGiven) =>
    send('confirm', { id: shown.action.id, confirm: isGiven ? '1' : '0' });
  agree.addEventListener('click', () => answer(true));
  decline.addEventListener('click', () => answer(false));
  poll.addEventListener('click', () => send('poll'));
  change.addEventListener('click', () => send('switch', { enable: shown.is_on ? '0' : '1' }));
  return {
    show: (status) => {
      shown = status;
      const isAsked = status.is_on && status.action?.state === 'asking';
      for (const target of [agree, decline]) setHidden(target, !isAsked, title);
      setHidden(poll, !status.is_on, title);
      setText(change, status.is_on ? t('Switch off') : t('Switch on'));
      change.setAttribute(
        'aria-label',
        status.is_on ? t('Switch off the fleet server') : t('Switch on the fleet server'),
      );
    },
  };
}

function factsOf(status) {
  const { server, controller_id: id, polled_at: polledAt, next_poll_at: nextPollAt } = status;
  return factRows([
    [t('Server'), server],
    [t('Known there as'), id],
    [t('Last poll'), ago(polledAt) || t('none yet')],
    [t('Next poll'), nextPollAt === undefined ? undefined : until(nextPollAt)],
  ]);
}

const STATES = {
  offered: () => t('Offered'),
  downloading: () => t('Downloading'),
  waiting: () => t('Waiting for its time'),
  asking: () => t('Do you agree?'),
  installing: () => t('Installing …'),
};
const RESULTS = {
  success: ['done', () => t('Done')],
  failure: ['failed', () => t('Failed')],
  canceled: ['stopped', () => t('Canceled')],
  downloaded: ['done', () => t('Downloaded')],
};

/** What the server wants done, or wanted last. */
function showAction(action) {
  const box = byId('fleet-action');
  const key = JSON.stringify(action);
  // What is the same is not read out again, and a link in it keeps the focus.
  if (box.dataset.shown === key) return;
  box.dataset.shown = key;
  box.replaceChildren(...(action === undefined ? [] : actionRows(action)));
}

function actionRows(action) {
  const { title, id, message, task_id: task } = action;
  const [state, word] = chipOf(action);
  const text = [
    message === title ? '' : daemonText(message ?? ''),
    downloadOf(action),
    reportOf(action),
  ];
  return [
    element('div', { className: 'row' }, [
      element('div', { className: 'grow' }, [
        textElement('p', title || id),
        ...text.filter(Boolean).map((line) => textElement('p', line, 'note')),
        ...(task === undefined
          ? []
          : [element('a', { href: `#activity/${task}`, className: 'note' }, [t('Show the task')])]),
      ]),
      element('span', { className: 'chip', dataset: { state } }, [word]),
    ]),
  ];
}

/** The state of the chip's colour, and its word. */
function chipOf({ state, result }) {
  if (result !== undefined && Object.hasOwn(RESULTS, result)) {
    const [colour, word] = RESULTS[result];
    return [colour, word()];
  }
  const word = Object.hasOwn(STATES, state) ? STATES[state]() : state;
  const colour = state === 'asking' ? 'check-warning' : 'queued';
  return [UNDER_WAY.includes(state) ? 'running' : colour, word];
}

function downloadOf({ state, downloaded_bytes: done, total_bytes: total }) {
  if (state !== 'downloading' || !(total > 0)) return '';
  return t('{done} of {total}', { done: size(done), total: size(total) });
}

function reportOf({ state, is_reported: isReported }) {
  return state === 'ended' && !isReported ? t('The server does not know yet how it ended.') : '';
}
