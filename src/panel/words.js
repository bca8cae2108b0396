const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How long ago a Unix time is. A device without a clock begins at 1970, which helps nobody. */
export function ago(unix) {
  if (!(unix > DAY * 365)) return '';
  const passed = Math.max(0, Date.now() / 1000 - unix);
  if (passed < MINUTE) return 'just now';
  const format = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
  if (passed < HOUR) return format.format(-Math.floor(passed / MINUTE), 'minute');
  if (passed < DAY) return format.format(-Math.floor(passed / HOUR), 'hour');
  if (passed < 30 * DAY) return format.format(-Math.floor(passed / DAY), 'day');
  return `on ${new Date(unix * 1000).toLocaleDateString()}`;
}

/** A span of seconds, such as `4 s` or `2 min 5 s`. */
export function span(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < MINUTE) return `${whole} s`;
  if (whole < HOUR) return `${Math.floor(whole / MINUTE)} min ${whole % MINUTE} s`;
  return `${Math.floor(whole / HOUR)} h ${Math.floor((whole % HOUR) / MINUTE)} min`;
}

const TITLES = {
  install: (subject) => `Install ${subject}`,
  remove: (subject) => `Remove ${subject}`,
  upgrade: (subject) => `Upgrade ${subject}`,
  autoconf: (subject) => `Set up ${subject}`,
  update: () => 'Update lists',
  upload: (subject) => `Install ${subject}`,
  unrun: (subject) => `Remove what ${subject} brought`,
  'self-upgrade': () => 'Upgrade depotd',
  migrate: (subject) => `Move container data to ${subject}`,
};

/** What a task does; kinds that this page does not know show their command. */
export function titleOf({ kind, package: subject, command }) {
  return Object.hasOwn(TITLES, kind) ? TITLES[kind](subject) : command;
}

const BUSY = {
  install: 'Installing',
  remove: 'Removing',
  upgrade: 'Upgrading',
  autoconf: 'Setting up',
};

/** What is being done to an app while a task on it has not ended. */
export function busyWord({ kind, state }) {
  if (state === 'queued') return 'Waiting';
  return Object.hasOwn(BUSY, kind) ? BUSY[kind] : 'Working';
}

const STATES = {
  queued: 'Waiting',
  running: 'Running',
  done: 'Done',
  failed: 'Failed',
  stopped: 'Stopped',
  interrupted: 'Interrupted',
};

export function stateWord(state) {
  return Object.hasOwn(STATES, state) ? STATES[state] : state;
}

/** The step that a running task is at; a waiting one says so already. */
export function progressLine({ state, progress }) {
  if (state !== 'running' || progress === undefined) return '';
  return (
    `Step ${Math.min(progress.done + 1, progress.total)} of ${progress.total}: ` +
    `${progress.label}${progress.percent === undefined ? '' : `, ${progress.percent} %`}`
  );
}
