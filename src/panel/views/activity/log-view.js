import { button, element, setText } from '../../dom.js';
import { t } from '../../i18n.js';
import { openStream } from '../../live.js';
import { createTerminalText, wholeCharacters } from './terminal-text.js';

/** Only the end of a longer log of an ended task is shown; the rest is one click away. */
const MOST_BYTES = 512 * 1024;
/** So close to the end of the log counts as there, in CSS pixels. */
const NEAR_END = 24;

/**
 * The live log of one task. It keeps showing the end, unless somebody scrolled up to read.
 * @param title what people call the task
 * @param onStatus gets each state of the task that the stream brings
 * @param report gets why the log cannot be saved
 */
export function createLogView({ api, task, title, onStatus, report }) {
  const screen = createTerminal(title);
  screen.onSave(() => api.logAddress(task.id).then((href) => save(href, task), report));
  let offset = 0;
  let stream;
  let isOver = false;
  let isClosed = false;

  const append = (text, id) => {
    offset = Number(id);
    screen.write(text);
  };
  const finish = (status) => {
    isOver = true;
    stream?.close();
    onStatus(status);
    if (offset === 0) screen.say(t('This task printed nothing.'));
  };
  const open = () => {
    stream?.close();
    stream = openStream(
      () => `admin/system/tasks/events?${new URLSearchParams({ task_id: task.id, offset })}`,
      {
        listeners: { log: append, status: onStatus, end: finish },
        onUp: () => screen.showPolling(false),
        poll: () => {
          screen.showPolling(true);
          return ask().catch(() => undefined);
        },
      },
    );
  };
  const ask = async () => {
    const { status, text, end } = await readOn(api, task, offset);
    if (isOver || isClosed) return;
    if (text !== '') append(text, end);
    if (status.running) onStatus(status);
    else if (status.exit_code !== 404) finish(status);
    else {
      stream.close();
      screen.say(t('This log is no longer kept.'));
    }
  };
  const begin = async () => {
    const size = task.running ? 0 : await api.logSize(task.id).catch(() => 0);
    if (size > MOST_BYTES) {
      offset = size - MOST_BYTES;
      screen.sayOnlyTheEnd();
    }
    if (!isClosed && !document.hidden) open();
  };

  void begin();
  return {
    element: screen.element,
    /** A page that nobody sees holds no connection: browsers and small web servers have few. */
    pause: () => stream?.close(),
    resume: () => {
      if (!isOver && !isClosed) open();
    },
    close: () => {
      isClosed = true;
      stream?.close();
      screen.close();
    },
  };
}

/**
 * What is new in a log, if no stream brings it. In this order: a task that has ended writes
 * nothing more, so what is read after that is all.
 */
async function readOn(api, { id }, offset) {
  const status = await api.get('admin/system/tasks/status', { task_id: id });
  const bytes = await api.logFrom(id, offset);
  const whole = status.running ? wholeCharacters(bytes) : bytes.length;
  return { status, text: new TextDecoder().decode(bytes.subarray(0, whole)), end: offset + whole };
}

/** As if it were a link that was clicked: the browser writes the file, however long it is. */
function save(href, { id }) {
  element('a', { href, download: `${id}.log` }).click();
}

/** What is written is drawn once a frame. */
function createTerminal(title) {
  const terminal = createTerminalText();
  const screen = createScreen(title);
  let frame = 0;

  const draw = () => {
    frame = 0;
    screen.draw(terminal.readChanges());
  };
  screen.onCopy(() => terminal.text());
  return {
    element: screen.element,
    onSave: screen.onSave,
    say: screen.say,
    sayOnlyTheEnd: screen.sayOnlyTheEnd,
    showPolling: screen.showPolling,
    write: (text) => {
      terminal.write(text);
      if (frame === 0) frame = requestAnimationFrame(draw);
    },
    close: () => cancelAnimationFrame(frame),
  };
}

function createScreen(title) {
  const lines = element('div', { className: 'lines' });
  const remark = element('p', { className: 'remark', hidden: true });
  const pane = element(
    'div',
    {
      className: 'pane',
      role: 'region',
      tabIndex: 0,
      'aria-label': t('Log of {task}', { task: title }),
    },
    [remark, lines],
  );
  const toEnd = button({
    symbol: 'down',
    text: t('Newest'),
    label: t('Scroll to the newest line'),
    className: 'to-end',
    onclick: () => scrollToEnd(),
  });
  const copy = button({ text: t('Copy'), className: 'quiet' });
  const polling = element('small', { hidden: true }, [t('Updated every 2 s')]);
  const whole = button({ symbol: 'down', text: t('Save'), className: 'quiet' });
  const box = element('div', { className: 'log' }, [
    pane,
    toEnd,
    element('div', { className: 'log-tools' }, [polling, copy, whole]),
  ]);
  let firstLine = 0;
  let isAtEnd = true;

  const scrollToEnd = () => {
    isAtEnd = true;
    toEnd.hidden = true;
    pane.scrollTop = pane.scrollHeight;
  };
  const say = (text) => {
    setText(remark, text);
    remark.hidden = false;
  };
  const sayOnlyTheEnd = () => say(t('Only the end of this log is shown. Save keeps all of it.'));
  toEnd.hidden = true;
  pane.addEventListener('scroll', () => {
    isAtEnd = pane.scrollHeight - pane.scrollTop - pane.clientHeight <= NEAR_END;
    toEnd.hidden = isAtEnd;
  });

  return {
    element: box,
    draw: (changes) => {
      firstLine = replaceLines(lines, firstLine, changes);
      if (firstLine > 0) sayOnlyTheEnd();
      if (isAtEnd) scrollToEnd();
    },
    say,
    sayOnlyTheEnd,
    showPolling: (isPolling) => (polling.hidden = !isPolling),
    onSave: (onclick) => whole.addEventListener('click', onclick),
    onCopy: (textOf) =>
      copy.addEventListener('click', () => void copyText(textOf(), { copy, lines })),
  };
}

/** Drops lines that are forgotten or changed, and puts the changed and the new ones at the end. */
function replaceLines(target, shownFrom, { firstLine, from, lines }) {
  for (
    let dropped = Math.min(firstLine - shownFrom, target.childElementCount);
    dropped > 0;
    dropped -= 1
  ) {
    target.firstElementChild.remove();
  }
  while (target.childElementCount > from - firstLine) target.lastElementChild.remove();
  target.append(...lines.map(lineElement));
  return firstLine;
}

function lineElement(runs) {
  return element(
    'div',
    {},
    runs.map(({ text, colour, isBold }) =>
      colour === 0 && !isBold
        ? text
        : element(
            'span',
            { className: isBold ? 'bold' : '', style: `color: var(--ink-${colour}, inherit)` },
            [text],
          ),
    ),
  );
}

/**
 * The clipboard is there on secure pages only, and a router's is mostly none: then the log is
 * selected, ready for the keys.
 */
async function copyText(text, { copy, lines }) {
  try {
    await navigator.clipboard.writeText(text);
    copy.textContent = t('Copied');
  } catch {
    getSelection().selectAllChildren(lines);
    copy.textContent = document.execCommand('copy') ? t('Copied') : t('Selected');
  }
  setTimeout(() => (copy.textContent = t('Copy')), 2000);
}
