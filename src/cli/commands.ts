/**
 * What each command takes. The text for --help and every complaint about usage come from this
 * table.
 */
export const COMMANDS = {
  install: {
    form: 'install NAME… [--autoconf [--path FOLDER] [--enable 0|1]] [--detach]',
    meaning: 'install apps or packages',
    names: [1, Infinity],
    options: ['autoconf', 'path', 'enable', 'detach'],
  },
  remove: {
    form: 'remove NAME… [--detach]',
    meaning: 'remove them and what came with them',
    names: [1, Infinity],
    options: ['detach'],
  },
  upgrade: {
    form: 'upgrade NAME… [--detach]',
    meaning: 'upgrade them',
    names: [1, Infinity],
    options: ['detach'],
  },
  autoconf: {
    form: 'autoconf NAME… [--path FOLDER] [--enable 0|1] [--detach]',
    meaning: 'configure apps that are installed',
    names: [1, Infinity],
    options: ['path', 'enable', 'detach'],
  },
  update: {
    form: 'update [--detach]',
    meaning: 'fetch the lists of what is available',
    names: [0, 0],
    options: ['detach'],
  },
  upload: {
    form: 'upload FILE… [--detach]',
    meaning: 'send .ipk or .run files and install them',
    names: [1, Infinity],
    options: ['detach'],
  },
  uploads: {
    form: 'uploads',
    meaning: 'the files that were installed so',
    names: [0, 0],
    options: [],
  },
  undo: {
    form: 'undo UPLOAD… [--detach]',
    meaning: 'remove what they brought',
    names: [1, Infinity],
    options: ['detach'],
  },
  migrate: {
    form: 'migrate FOLDER [--overwrite true|chdir] [--detach]',
    meaning: 'move the container data',
    names: [1, 1],
    options: ['overwrite', 'detach'],
  },
  list: { form: 'list', meaning: 'the installed apps', names: [0, 0], options: [] },
  status: { form: 'status NAME', meaning: 'one app or package', names: [1, 1], options: [] },
  disks: { form: 'disks', meaning: 'devices with a file system', names: [0, 0], options: [] },
  jobs: { form: 'jobs', meaning: 'the tasks, newest first', names: [0, 0], options: [] },
  log: {
    form: 'log [-f] [TASK]',
    meaning: 'a log, the newest by default; -f: follow',
    names: [0, 1],
    options: ['follow'],
  },
  stop: {
    form: 'stop TASK',
    meaning: 'drop a waiting task, stop a running one',
    names: [1, 1],
    options: [],
  },
  'self-upgrade': {
    form: 'self-upgrade [--check] [--detach]',
    meaning: 'upgrade depotd itself',
    names: [0, 0],
    options: ['check', 'detach'],
  },
  login: {
    form: 'login [--user NAME]',
    meaning: 'log in with the password',
    names: [0, 0],
    options: ['user'],
  },
  logout: { form: 'logout', meaning: 'end the session', names: [0, 0], options: [] },
  passwd: { form: 'passwd', meaning: 'set the password', names: [0, 0], options: [] },
  token: {
    form: 'token',
    meaning: 'the token that changing requests carry',
    names: [0, 0],
    options: [],
  },
} as const satisfies Record<
  string,
  { form: string; meaning: string; names: readonly [number, number]; options: readonly OwnOption[] }
>;

export type CommandName = keyof typeof COMMANDS;

/** Options that only some commands take. */
export const OWN_OPTIONS = [
  'overwrite',
  'autoconf',
  'path',
  'enable',
  'detach',
  'follow',
  'check',
  'user',
] as const;
export type OwnOption = (typeof OWN_OPTIONS)[number];

export const DEFAULT_URL = 'http://127.0.0.1:8728';
/** Where the packages have the daemon listen, too. */
export const ROOT_SOCKET = '/var/run/depotd.sock';
export const DEFAULT_BASE = '/cgi-bin/panel';

export function isCommand(word: string): word is CommandName {
  return Object.hasOwn(COMMANDS, word);
}

/** Longer forms have a line of their own. */
const MOST_FORM_COLUMNS = 40;

export function helpText(): string {
  const width = Math.max(
    ...Object.values(COMMANDS).map(({ form }) =>
      form.length > MOST_FORM_COLUMNS ? 0 : form.length,
    ),
  );
  const lines = Object.values(COMMANDS).map(({ form, meaning }) =>
    form.length > width
      ? `  ${form}\n  ${' '.repeat(width)}  ${meaning}`
      : `  ${form.padEnd(width)}  ${meaning}`,
  );
  return `usage: depotctl [--url URL] [--base PATH] [--session ID] [--json] COMMAND

${lines.join('\n')}

  --autoconf     configure the app after installing it
  --path FOLDER  … with its data in this folder
  --enable 0|1   … and do not start it, or do
  --overwrite    true: replace what is in FOLDER; chdir: copy nothing, use
                 what is there
  --check        only tell whether there is a newer version
  --user NAME    whose password it is, with main.auth panel (default root)
  --detach       do not follow the log; print the task's id and end
  --url URL      the daemon: http://HOST[:PORT][/PATH], https://… or unix:/PATH
                 (default unix:${ROOT_SOCKET} for root,
                 else ${DEFAULT_URL})
  --base PATH    root of its CGI path tree, behind the URL's path (default:
                 the URL's path alone, else ${DEFAULT_BASE})
  --session ID   a session of the device's panel; better in the variable
                 DEPOTCTL_SESSION, which others on this host do not see
  --json         answers as JSON, one a line; no log
  --version      print the version, and end

TASK and UPLOAD are an id or the beginning of one, as jobs and uploads show it;
TASK may be "latest".
login and passwd ask at a terminal. Else they read standard input: the password
on its first line; for passwd, the old one on its second.
Whether a log-in is needed, main.auth says: none: no; password: depotd's own;
panel: a user and password of the device. The first password root sets.
Exit codes: 0 done, 1 the job failed or was refused, 2 usage, 3 the daemon
cannot be reached.
`;
}
