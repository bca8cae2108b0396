import { language, stepName, t } from './i18n.js';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How long ago a Unix time is. A device without a clock begins at 1970, which helps nobody. */
export function ago(unix) {
  if (!(unix > DAY * 365)) return '';
  const passed = Math.max(0, Date.now() / 1000 - unix);
  if (passed < MINUTE) return t('just now');
  const format = new Intl.RelativeTimeFormat(language(), { numeric: 'auto' });
  if (passed < HOUR) return format.format(-Math.floor(passed / MINUTE), 'minute');
  if (passed < DAY) return format.format(-Math.floor(passed / HOUR), 'hour');
  if (passed < 30 * DAY) return format.format(-Math.floor(passed / DAY), 'day');
  const date = new Intl.DateTimeFormat(language(), { dateStyle: 'medium' }).format(unix * 1000);
  return t('on {date}', { date });
}

/** How long it is until a Unix time. */
export function until(unix) {
  const left = Math.max(0, unix - Date.now() / 1000);
  if (left < MINUTE) return t('in less than a minute');
  const format = new Intl.RelativeTimeFormat(language(), { numeric: 'always' });
  if (left < HOUR) return format.format(Math.round(left / MINUTE), 'minute');
  return format.format(Math.round(left / HOUR), 'hour');
}

const SPAN_UNITS = [
  [DAY, 'day'],
  [HOUR, 'hour'],
  [MINUTE, 'minute'],
  [1, 'second'],
];

/** A span of seconds in its largest unit and the next smaller one, such as `4s` or `2m 5s`. */
export function span(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  const first = SPAN_UNITS.findIndex(([length]) => length <= Math.max(1, whole));
  let left = whole;
  const amounts = SPAN_UNITS.slice(first, first + 2).map(([length, unit]) => {
    const format = { style: 'unit', unit, unitDisplay: 'narrow' };
    const amount = new Intl.NumberFormat(language(), format).format(Math.floor(left / length));
    left %= length;
    return amount;
  });
  return new Intl.ListFormat(language(), { type: 'unit', style: 'narrow' }).format(amounts);
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
const STEP = 1024;

/** An amount of bytes, such as `12 MiB`: as depotctl writes it. */
export function size(bytes) {
  let unit = 0;
  let value = Math.abs(bytes);
  // What is rounded up to 1024 is one of the next unit.
  while (Math.round(value) >= STEP && unit < UNITS.length - 1) {
    value /= STEP;
    unit += 1;
  }
  const digits = unit === 0 || value >= 9.95 ? 0 : 1;
  const format = new Intl.NumberFormat(language(), {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  return `${format.format(bytes < 0 ? -value : value)} ${UNITS[unit]}`;
}

/** A Unix time as day and minute. */
export function dayAndMinute(unix) {
  return new Intl.DateTimeFormat(language(), { dateStyle: 'medium', timeStyle: 'short' }).format(
    unix * 1000,
  );
}

export function count(number) {
  return new Intl.NumberFormat(language()).format(number);
}

export function packageCount(number) {
  return number === 1 ? t('1 package') : t('{count} packages', { count: count(number) });
}

/** @param whole 0 to 100 */
export function percent(whole) {
  return new Intl.NumberFormat(language(), { style: 'percent' }).format(whole / 100);
}

const TITLES = {
  install: (subject) => t('Install {subject}', { subject }),
  remove: (subject) => t('Remove {app}', { app: subject }),
  upgrade: (subject) => (subject ? t('Upgrade {app}', { app: subject }) : t('Upgrade all')),
  autoconf: (subject) => t('Set up {subject}', { subject }),
  update: () => t('Update lists'),
  upload: (subject) => t('Install {subject}', { subject }),
  undo: (subject) => (subject ? t('Undo: {subject}', { subject }) : t('Undo')),
  unrun: (file) => t('Remove what {file} brought', { file }),
  'self-upgrade': () => t('Upgrade depotd'),
  migrate: (subject) => t('Move container data to {subject}', { subject }),
  add_feed: (subject) => t('Add the feed {subject}', { subject }),
  remove_feed: (subject) => t('Remove the feed {subject}', { subject }),
  set_feed: (subject) => t('Change the feed {subject}', { subject }),
  backup: () => t('Back up'),
  restore: () => t('Restore a backup'),
  fleet: (subject) => t('Roll out {subject}', { subject }),
};

/** Kinds of tasks whose subject is an app or a package. */
const OF_PACKAGES = ['install', 'remove', 'upgrade', 'autoconf'];

/**
 * What a task does; kinds that this page does not know show their command.
 * @param nameOf what people call an app
 */
export function titleOf(task, nameOf) {
  const { kind, package: subject, command } = task;
  if (!Object.hasOwn(TITLES, kind)) return command;
  const isNamed = kind === 'undo' || packageOf(task) !== undefined;
  return TITLES[kind](isNamed ? nameOf(subject) : subject);
}

/** The app or package that a task is about; undefined if it is about something else. */
export function packageOf({ kind, package: subject }) {
  return OF_PACKAGES.includes(kind) && subject !== '' ? subject : undefined;
}

const BUSY = {
  install: () => t('Installing …'),
  remove: () => t('Removing …'),
  upgrade: () => t('Upgrading …'),
  autoconf: () => t('Setting up …'),
};

/** What is being done to an app while a task on it has not ended. */
export function busyWord({ kind, state }) {
  if (state === 'queued') return t('Waiting …');
  return Object.hasOwn(BUSY, kind) ? BUSY[kind]() : t('Working …');
}

const STATES = {
  queued: () => t('Waiting'),
  running: () => t('Running'),
  done: () => t('Done'),
  failed: () => t('Failed'),
  stopped: () => t('Stopped'),
  interrupted: () => t('Interrupted'),
};

export function stateWord(state) {
  return Object.hasOwn(STATES, state) ? STATES[state]() : state;
}

/** What a running task is at, and how much of it is done; a waiting one says so already. */
export function progressLine({ state, progress }) {
  if (state !== 'running' || progress === undefined) return '';
  const { label, percent: done } = progress;
  const step = stepName(label);
  return done === undefined ? step : t('{step}, {percent}', { step, percent: percent(done) });
}
