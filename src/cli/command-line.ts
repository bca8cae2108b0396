import { parseArgs } from 'node:util';
import { reasonOf } from '../errors.ts';
import { parseTarget, type Target } from './target.ts';

/** What each command takes. The text for --help and every complaint about usage come from this table. */
const COMMANDS = {
  install: { form: 'install NAME… [--autoconf [--path FOLDER] [--enable 0|1]] [--detach]', meaning: 'install apps or packages', names: [1, Infinity], options: ['autoconf', 'path', 'enable', 'detach'] },
  remove: { form: 'remove NAME… [--detach]', meaning: 'remove them and what came with them', names: [1, Infinity], options: ['detach'] },
  upgrade: { form: 'upgrade NAME… [--detach]', meaning: 'upgrade them', names: [1, Infinity], options: ['detach'] },
  update: { form: 'update [--detach]', meaning: 'fetch the lists of what is available', names: [0, 0], options: ['detach'] },
  migrate: { form: 'migrate FOLDER [--overwrite true|chdir] [--detach]', meaning: 'move the container data', names: [1, 1], options: ['overwrite', 'detach'] },
  list: { form: 'list', meaning: 'the installed apps', names: [0, 0], options: [] },
  status: { form: 'status NAME', meaning: 'one app or package', names: [1, 1], options: [] },
  jobs: { form: 'jobs', meaning: 'the tasks, newest first', names: [0, 0], options: [] },
  log: { form: 'log [-f] [TASK]', meaning: 'the log of a task, of the newest by default; -f follows it to its end', names: [0, 1], options: ['follow'] },
  stop: { form: 'stop TASK', meaning: 'drop a waiting task, stop a running one', names: [1, 1], options: [] },
  passwd: { form: 'passwd', meaning: 'set the password: its first line of standard input, the old one on the second', names: [0, 0], options: [] },
  token: { form: 'token', meaning: 'the token that changing requests carry', names: [0, 0], options: [] },
} as const satisfies Record<string, { form: string; meaning: string; names: readonly [number, number]; options: readonly OwnOption[] }>;

export type CommandName = keyof typeof COMMANDS;

/** Options that only some commands take. */
type OwnOption = 'overwrite' | 'autoconf' | 'path' | 'enable' | 'detach' | 'follow';

const DEFAULT_URL = 'http://127.0.0.1:8728';
const DEFAULT_BASE = '/cgi-bin/panel';

const OPTIONS = {
  url: { type: 'string', default: DEFAULT_URL },
  base: { type: 'string', default: DEFAULT_BASE },
  json: { type: 'boolean', default: false },
  autoconf: { type: 'boolean' },
  path: { type: 'string' },
  enable: { type: 'string' },
  overwrite: { type: 'string' },
  detach: { type: 'boolean' },
  follow: { type: 'boolean', short: 'f' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
} as const;

export interface Invocation {
  command: CommandName;
  names: string[];
  target: Target;
  /** Parameters of the operation, beside the package. */
  parameters: Record<string, string>;
  isJson: boolean;
  isDetached: boolean;
  isFollowing: boolean;
  /** `depotctl` with the options that lead to the same daemon, for hints that can be pasted. */
  self: string;
}

export type CommandLine = { invocation: Invocation } | { print: 'help' | 'version' } | { problem: string };

export function parseCommandLine(words: string[]): CommandLine {
  try {
    const { values, positionals } = parseArgs({ args: words, options: OPTIONS, allowPositionals: true });
    if (values.help === true) return { print: 'help' };
    if (values.version === true) return { print: 'version' };
    return { invocation: checkInvocation(values, positionals) };
  } catch (error) {
    return { problem: reasonOf(error) };
  }
}

type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values'];

function checkInvocation(values: Values, [command, ...names]: string[]): Invocation {
  if (command === undefined) throw new Error(`cannot do anything without a command: ${Object.keys(COMMANDS).join(', ')}`);
  if (!isCommand(command)) throw new Error(`cannot run "${command}": the commands are ${Object.keys(COMMANDS).join(', ')}`);
  checkNames(command, names);
  checkOptions(command, values);
  const { url, base } = values;
  return {
    command,
    names,
    target: parseTarget(url, base),
    parameters: parametersOf(values),
    isJson: values.json,
    isDetached: values.detach === true,
    isFollowing: values.follow === true,
    self: ['depotctl', ...(url === DEFAULT_URL ? [] : [`--url ${url}`]), ...(base === DEFAULT_BASE ? [] : [`--base ${base}`])].join(' '),
  };
}

function isCommand(word: string): word is CommandName {
  return Object.hasOwn(COMMANDS, word);
}

function checkNames(command: CommandName, names: readonly string[]): void {
  const { form, names: [least, most] } = COMMANDS[command];
  if (names.length < least) throw new Error(`cannot ${command} nothing: usage: depotctl ${form}`);
  if (names.length > most) throw new Error(`cannot use "${names[most] ?? ''}": usage: depotctl ${form}`);
}

function checkOptions(command: CommandName, values: Values): void {
  const allowed: readonly OwnOption[] = COMMANDS[command].options;
  const own: OwnOption[] = ['overwrite', 'autoconf', 'path', 'enable', 'detach', 'follow'];
  const foreign = own.find((name) => values[name] !== undefined && !allowed.includes(name));
  if (foreign !== undefined) throw new Error(`cannot use --${foreign} with ${command}: usage: depotctl ${COMMANDS[command].form}`);
  if (values.autoconf !== true && (values.path ?? values.enable) !== undefined) throw new Error('cannot use --path or --enable without --autoconf: they are for the configuration');
  if (values.overwrite !== undefined && !['true', 'chdir'].includes(values.overwrite)) throw new Error(`cannot use --overwrite ${values.overwrite}: true or chdir is expected`);
  if (values.enable !== undefined && !['0', '1'].includes(values.enable)) throw new Error(`cannot use --enable ${values.enable}: 0 or 1 is expected`);
}

function parametersOf({ overwrite, autoconf, path, enable }: Values): Record<string, string> {
  return { ...(overwrite !== undefined && { overwrite }), ...(autoconf === true && { autoconf: '1' }), ...(path !== undefined && { path }), ...(enable !== undefined && { enable }) };
}

export function helpText(): string {
  const width = Math.max(...Object.values(COMMANDS).map(({ form }) => (form.length > 40 ? 0 : form.length)));
  const lines = Object.values(COMMANDS).map(({ form, meaning }) => (form.length > width ? `  ${form}\n  ${' '.repeat(width)}  ${meaning}` : `  ${form.padEnd(width)}  ${meaning}`));
  return `usage: depotctl [--url URL] [--base PATH] [--json] COMMAND

${lines.join('\n')}

  --autoconf     configure the app after installing it
  --path FOLDER  … with its data in this folder
  --enable 0|1   … and do not start it, or do
  --overwrite    true: replace what is in FOLDER; chdir: copy nothing, use what is there
  --detach       do not follow the log; print the task's id and end
  --url URL      the daemon: http://HOST[:PORT] or unix:/PATH (default ${DEFAULT_URL})
  --base PATH    root of its CGI path tree (default ${DEFAULT_BASE})
  --json         answers as JSON, one a line; no log
  --version      print the version, and end

TASK is an id or the beginning of one, as jobs shows it, or "latest".
Exit codes: 0 done, 1 the job failed or was refused, 2 usage, 3 the daemon cannot be reached.
`;
}
