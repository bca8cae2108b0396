import { DEFAULT_BASE, DEFAULT_URL, OWNER_SOCKET } from '../daemon-target.ts';

/** An option, as help, the man page and completion show it. */
export interface OptionText {
  /** One letter, if it has one. */
  short?: string;
  /** What stands for its value; an option without one is a switch. */
  argument?: string;
  /** The values that it takes, if there are but a few. */
  values?: readonly string[];
  meaning: string;
}

/** Options that only some commands take; `commands.ts` says which. */
export const OWN_OPTIONS = {
  all: { meaning: 'all packages, not apps alone' },
  upgradable: { meaning: 'only what has a newer version' },
  names: { meaning: 'only names that begin with WORD, one a line, as completion needs them' },
  'dry-run': { meaning: 'show the plan, and change nothing' },
  yes: { short: 'y', meaning: 'do not ask' },
  autoconf: { meaning: 'configure the app after installing it' },
  untranslated: { meaning: 'without the translation of an app of LuCI' },
  system: { meaning: 'even what the device stands on, as its firmware, page, network or log-in' },
  purge: { meaning: 'with the data folders and images of its containers, which stay otherwise' },
  confirm: {
    argument: 'SECONDS',
    meaning: 'it goes back by itself after 30 to 600 seconds, unless "depotctl confirm" comes',
  },
  path: {
    argument: 'FOLDER',
    meaning: 'with its data, or the backup, in this folder of the device',
  },
  enable: { argument: '0|1', values: ['0', '1'], meaning: 'do not start it, or do' },
  overwrite: {
    argument: 'true|chdir',
    values: ['true', 'chdir'],
    meaning: 'true: replace what is in FOLDER; chdir: copy nothing, use what is there',
  },
  check: { meaning: 'only say whether there is a newer version' },
  'with-packages': { meaning: 'with the package files, so that a restore needs no internet' },
  'as-new': { meaning: 'on another device: without host name, addresses and keys' },
  key: { argument: 'FILE', meaning: 'the public key that its lists are signed with' },
  user: {
    argument: 'NAME',
    meaning: 'whose password it is, with main.auth panel (default root)',
  },
  follow: { short: 'f', meaning: 'go on to the end of the task' },
  detach: { meaning: "do not follow the log; print the task's id and end" },
} as const satisfies Record<string, OptionText>;

export type OwnOption = keyof typeof OWN_OPTIONS;

/** Options that every command takes. */
export const COMMON_OPTIONS = {
  url: {
    argument: 'URL',
    meaning:
      'the daemon: http://HOST[:PORT][/PATH], https://… or unix:/PATH ' +
      `(default unix:${OWNER_SOCKET} for root, else ${DEFAULT_URL})`,
  },
  base: {
    argument: 'PATH',
    meaning:
      "root of its CGI path tree, behind the URL's path (default: the URL's path alone, " +
      `else ${DEFAULT_BASE})`,
  },
  session: {
    argument: 'ID',
    meaning:
      "a session of the device's panel; better in the variable DEPOTCTL_SESSION, which others " +
      'on this host do not see',
  },
  json: { meaning: 'answers as JSON, one a line; no log, no questions' },
  help: { short: 'h', meaning: 'what a command does, and its options' },
  version: { meaning: 'print the version, and end' },
} as const satisfies Record<string, OptionText>;

export type OptionName = OwnOption | keyof typeof COMMON_OPTIONS;

/** `-y, --yes` or `--path FOLDER`. */
export function optionForm(name: string, { short, argument }: OptionText): string {
  const long = argument === undefined ? `--${name}` : `--${name} ${argument}`;
  return short === undefined ? long : `-${short}, ${long}`;
}

/** An option in a common type, for those who go through all of them. */
export function ownOption(name: OwnOption): OptionText {
  return OWN_OPTIONS[name];
}
