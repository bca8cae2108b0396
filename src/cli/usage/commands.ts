import type { OwnOption } from './options.ts';

/** A command, as the parser checks it and as people read of it. */
export interface CommandText {
  /** What follows its name: in brackets if it need not, with `…` if often; by default nothing. */
  form?: string;
  meaning: string;
  /** What is worth knowing beyond that; a paragraph each. */
  about?: readonly string[];
  /** The words that may come first, if only some may, each with the bounds of names behind it. */
  words?: Readonly<Record<string, Bounds>>;
  options?: readonly OwnOption[];
  examples?: readonly string[];
}

type Bounds = readonly [number, number];

const ASKS =
  'On a terminal the plan is shown first: what comes and goes, what has to be fetched, and the ' +
  'space that is left. Without a terminal, with --yes or with --json nobody is asked.';

/** What each command takes: help, man page, completion and complaints about usage come from it. */
export const COMMANDS = {
  search: {
    form: 'WORD…',
    meaning: 'find apps and packages by name and description',
    options: ['upgradable', 'names'],
    examples: ['depotctl search ad block'],
  },
  info: { form: 'NAME', meaning: 'all that is known of an app or package' },
  list: {
    meaning: 'the installed apps',
    options: ['all', 'upgradable'],
    examples: ['depotctl list --upgradable', 'depotctl list --all --json'],
  },
  plan: {
    form: 'install|remove|upgrade [NAME…]',
    meaning: 'what such a command would change; exit code 1 if it is not possible',
    words: { install: [1, Infinity], remove: [1, Infinity], upgrade: [0, Infinity] },
    options: ['system'],
    examples: ['depotctl plan install adguardhome', 'depotctl plan upgrade'],
  },
  install: {
    form: 'NAME…',
    meaning: 'install apps or packages',
    about: [ASKS],
    options: ['dry-run', 'yes', 'autoconf', 'path', 'enable', 'untranslated', 'confirm', 'detach'],
    examples: ['depotctl install adguardhome', 'depotctl install -y notes --autoconf'],
  },
  remove: {
    form: 'NAME…',
    meaning: 'remove them, their containers and what came with them',
    about: [
      ASKS,
      'What came with the firmware and what page, network, names, firewall and log-in stand on ' +
        'goes with --system alone.',
    ],
    options: ['dry-run', 'yes', 'purge', 'system', 'confirm', 'detach'],
  },
  upgrade: {
    form: '[NAME…]',
    meaning: 'upgrade them; without a name all that the owner installed',
    about: [ASKS, 'Without a name neither what came with the image is upgraded nor what is held.'],
    options: ['dry-run', 'yes', 'confirm', 'detach'],
  },
  hold: { form: 'NAME…', meaning: 'keep them at their version, whatever feeds offer' },
  release: { form: 'NAME…', meaning: 'let go what is held, so that it can be upgraded again' },
  autoconf: {
    form: 'NAME…',
    meaning: 'configure apps that are installed',
    options: ['path', 'enable', 'detach'],
  },
  update: {
    meaning: 'fetch the lists of what is available',
    options: ['detach'],
  },
  feeds: {
    form: '[add NAME URL | remove NAME | on NAME | off NAME | no-upgrades NAME | upgrades NAME]',
    meaning: 'where packages come from, and changes of that',
    about: [
      'A feed that is added is checked before: its list must be there, whole and signed.',
      'With no-upgrades packages are installed from it and never upgraded.',
    ],
    words: {
      add: [2, 2],
      remove: [1, 1],
      on: [1, 1],
      off: [1, 1],
      'no-upgrades': [1, 1],
      upgrades: [1, 1],
    },
    options: ['key', 'detach'],
    examples: ['depotctl feeds add mine https://example.org/packages --key mine.pub'],
  },
  import: {
    form: 'istore',
    meaning: "what iStore left here, and its catalogue's feeds, which are added on a yes",
    about: [
      "iStore's records of uploads and its last folder count as they are. Its feeds are fetched " +
        'from its mirrors in their order, and checked before they are added.',
    ],
    words: { istore: [0, 0] },
    options: ['yes', 'detach'],
  },
  upload: {
    form: 'FILE…',
    meaning: 'send package files or .run files and install them',
    options: ['detach'],
  },
  uploads: { meaning: 'the files that were installed so' },
  undo: {
    form: '[TASK|UPLOAD]',
    meaning: 'take back what a task changed; by default the newest that can be undone',
    about: [ASKS],
    options: ['dry-run', 'yes', 'confirm', 'detach'],
  },
  confirm: { form: 'TASK', meaning: 'keep what it changed, which was asked for with --confirm' },
  backup: {
    form: '[FILE]',
    meaning: 'back up packages and settings, and get that as FILE',
    about: ['It holds passwords: FILE can be read by you alone.'],
    options: ['with-packages', 'path', 'detach'],
    examples: ['depotctl backup router.tar.gz', 'depotctl backup --with-packages --path /mnt/sda1'],
  },
  backups: { meaning: 'the backups on the device' },
  restore: {
    form: 'FILE|BACKUP',
    meaning: 'bring back what a backup holds',
    about: [ASKS],
    options: ['dry-run', 'yes', 'as-new', 'detach'],
  },
  status: { form: 'NAME', meaning: 'one app or package; exit code 1 if it is not installed' },
  fleet: {
    form: '[on | off | poll | confirm [ACTION] | decline [ACTION]]',
    meaning: 'the server that rolls out to many devices, and whether it may act on this one',
    words: { on: [0, 0], off: [0, 0], poll: [0, 0], confirm: [0, 1], decline: [0, 1] },
  },
  doctor: { meaning: 'what is wrong with the device; exit code 1 if something is' },
  verify: {
    meaning: 'files of packages against what is on record; exit code 1 if something differs',
    about: [
      'Changed configuration is told apart, and is no difference. Named are also set-uid files ' +
        'and programs that listen and came with no package. opkg records no hashes: there the ' +
        "time of a file counts, and the firmware's image where the file is from that.",
    ],
  },
  sbom: { meaning: 'what is installed, as CycloneDX' },
  advisories: {
    form: 'FILE',
    meaning: 'which advisories (OSV) concern this device; exit code 1 if one does',
  },
  device: { meaning: 'model, release, memory and space' },
  disks: { meaning: 'devices with a file system' },
  migrate: {
    form: 'FOLDER',
    meaning: 'move the container data',
    options: ['overwrite', 'detach'],
  },
  jobs: { meaning: 'the tasks, newest first' },
  log: {
    form: '[TASK]',
    meaning: 'a log, the newest by default',
    options: ['follow'],
    examples: ['depotctl log -f latest'],
  },
  stop: { form: 'TASK', meaning: 'drop a waiting task, stop a running one' },
  'self-upgrade': {
    meaning: 'upgrade depotd itself',
    options: ['check', 'detach'],
  },
  login: {
    meaning: 'log in with the password; root on the device need not',
    options: ['user'],
  },
  logout: { meaning: 'end the session' },
  passwd: { meaning: 'set the password' },
  token: { meaning: 'the token that changing requests carry' },
  completion: {
    form: 'bash|zsh|fish',
    meaning: 'a script with which a shell completes commands',
    words: { bash: [0, 0], zsh: [0, 0], fish: [0, 0] },
    examples: ['source <(depotctl completion bash)'],
  },
  help: { form: '[COMMAND]', meaning: 'what a command does' },
  version: { meaning: 'the versions of this program and of the daemon' },
} as const satisfies Record<string, CommandText>;

export type CommandName = keyof typeof COMMANDS;

export const COMMAND_NAMES = Object.keys(COMMANDS) as CommandName[];

export function isCommand(word: string): word is CommandName {
  return Object.hasOwn(COMMANDS, word);
}

export type Shell = keyof typeof COMMANDS.completion.words;

/** A command in a common type, for those who go through all of them. */
export function commandText(name: CommandName) {
  const text: CommandText = COMMANDS[name];
  return { form: '', options: [], ...text };
}

/** Least and most names behind a command, as its form and its words have them. */
export function namesOf(name: CommandName): Bounds {
  const { form, words = {} } = commandText(name);
  const least = form === '' || form.startsWith('[') ? 0 : 1;
  if (form === '' || form.includes('…')) return [least, form === '' ? 0 : Infinity];
  return [least, 1 + Math.max(0, ...Object.values(words).map(([, most]) => most))];
}
