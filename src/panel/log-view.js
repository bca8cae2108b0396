import { logAddress } from './api.js';
import { element, icon, iconButton, setText } from './dom.js';
import { openStream } from './live.js';
import { createTerminalText } from './terminal-text.js';

/** Of a longer log of an ended task only the end is shown; the rest is one click away. */
const MOST_BYTES = 512 * 1024;
const ONLY_THE_END = 'Only the end of this log is shown. Save keeps all of it.';
/** What the status of a task that is no longer known says. */
const FORGOTTEN = 404;
const LINE_FEED = 10;
/** This close to the end counts as there, in CSS pixels. */
const NEAR_END = 24;

/**
 * The live log of one task. It keeps showing the end, unless somebody scrolled up to read.
 * @param onStatus gets each state of the task that the stream brings
 */
export function createLogView({ api, task, onStatus }) {
  const screen = createScreen(task);
  const drawing = createDrawing(screen);
  let offset = 0;
  let stream;
  let isOver = false;
  let isClosed = false;

  const take = (text, id) => {
    offset = Number(id);
    drawing.write(text);
  };
  const finish = (status) => {
    isOver = true;
    stream?.close();
    onStatus(status);
    if (offset === 0) screen.say('This task printed nothing.');
  };
  const open = () => {
    stream?.close();
    stream = openStream(() => `admin/system/tasks/events?${new URLSearchParams({ task_id: task.id, offset })}`, {
      listeners: { log: take, status: onStatus, end: finish },
      onDown: ({ hasGivenUp }) => hasGivenUp && void lookOnce().catch(() => undefined),
    });
  };
  /** The stream is refused where the log is no longer kept, and where the web server has no room for one more. Unreachable is told elsewhere. */
  const lookOnce = async () => {
    const from = offset;
    const { status, text, size } = await readLog(api, { task, from });
    if (isClosed || offset !== from) return;
    if (size > 0) take(text, from + size);
    if (status.exit_code === FORGOTTEN) {
      stream.close();
      screen.say('This log is no longer kept.');
    } else if (status.running) onStatus(status);
    else finish(status);
  };
  const begin = async () => {
    const size = task.running ? 0 : await api.logSize(task.id).catch(() => 0);
    if (size > MOST_BYTES) {
      offset = size - MOST_BYTES;
      screen.say(ONLY_THE_END);
    }
    if (!isClosed && !document.hidden) open();
  };

  screen.onCopy(() => drawing.text());
  void begin();
  return {
    element: screen.element,
    /** A page that nobody sees holds no connection: browsers have few of them, and so have small web servers. */
    pause: () => stream?.close(),
    resume: () => {
      if (!isOver && !isClosed) open();
    },
    close: () => {
      isClosed = true;
      stream?.close();
      drawing.stop();
    },
  };
}

/** What comes in is drawn once a frame. */
function createDrawing(screen) {
  const terminal = createTerminalText();
  let frame = 0;
  const draw = () => {
    frame = 0;
    screen.draw(terminal.takeChanges());
  };
  return {
    write: (text) => {
      terminal.write(text);
      if (frame === 0) frame = requestAnimationFrame(draw);
    },
    text: () => terminal.text(),
    stop: () => cancelAnimationFrame(frame),
  };
}

/** What there is of a log from an offset on: as whole lines while there are more to come, so that no character is cut. */
async function readLog(api, { task, from }) {
  const status = await api.get('admin/system/tasks/status', { task_id: task.id });
  const bytes = await api.logFrom(task.id, from);
  const size = status.running ? bytes.lastIndexOf(LINE_FEED) + 1 : bytes.length;
  return { status, text: new TextDecoder().decode(bytes.subarray(0, size)), size };
}

function createScreen(task) {
  const lines = element('div', { className: 'lines' });
  const remark = element('p', { className: 'remark', hidden: true });
  const pane = element('div', { className: 'pane', role: 'region', tabIndex: 0, 'aria-label': `Log of ${task.command}` }, [remark, lines]);
  const toEnd = iconButton({ symbol: 'down', text: 'Newest', label: 'Scroll to the newest line', className: 'to-end', onclick: () => scrollToEnd() });
  const copy = element('button', { type: 'button', className: 'quiet' }, ['Copy']);
  const whole = element('a', { className: 'button quiet', href: logAddress(task.id), target: '_blank', rel: 'noopener', download: `${task.id}.log` }, [icon('down'), 'Save']);
  const box = element('div', { className: 'log' }, [pane, toEnd, element('div', { className: 'log-tools' }, [copy, whole])]);
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
  toEnd.hidden = true;
  pane.addEventListener('scroll', () => {
    isAtEnd = pane.scrollHeight - pane.scrollTop - pane.clientHeight <= NEAR_END;
    toEnd.hidden = isAtEnd;
  });

  return {
    element: box,
    draw: (changes) => {
      firstLine = replaceLines(lines, firstLine, changes);
      if (firstLine > 0) say(ONLY_THE_END);
      if (isAtEnd) scrollToEnd();
    },
    say,
    onCopy: (textOf) => copy.addEventListener('click', () => void copyText(textOf(), { button: copy, lines })),
  };
}

/** Drops the lines that are forgotten and those that changed, and puts the changed and the new ones at the end. */
function replaceLines(target, shownFrom, { firstLine, from, lines }) {
  for (let dropped = Math.min(firstLine - shownFrom, target.childElementCount); dropped > 0; dropped -= 1) target.firstElementChild.remove();
  while (target.childElementCount > from - firstLine) target.lastElementChild.remove();
  target.append(...lines.map(lineElement));
  return firstLine;
}

function lineElement(runs) {
  return element('div', {}, runs.map(({ text, colour, isBold }) => (colour === 0 && !isBold ? text : element('span', { className: `ink-${colour}${isBold ? ' bold' : ''}` }, [text]))));
}

/** The clipboard is there on secure pages only, and a router's is mostly none: then the log is selected, ready for the keys. */
async function copyText(text, { button, lines }) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = 'Copied';
  } catch {
    getSelection().selectAllChildren(lines);
    button.textContent = document.execCommand('copy') ? 'Copied' : 'Selected';
  }
  setTimeout(() => (button.textContent = 'Copy'), 2000);
}
