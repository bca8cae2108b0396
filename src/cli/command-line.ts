import { parseArgs } from 'node:util';
import { reasonOf } from '../errors.ts';
import { COMMANDS, isCommand, OWN_OPTIONS, type CommandName, type OwnOption } from './commands.ts';
import { parseTarget, usualUrl, type Target } from './target.ts';

const OPTIONS = {
  url: { type: 'string' },
  base: { type: 'string' },
  session: { type: 'string' },
  user: { type: 'string' },
  json: { type: 'boolean', default: false },
  autoconf: { type: 'boolean' },
  path: { type: 'string' },
  enable: { type: 'string' },
  overwrite: { type: 'string' },
  detach: { type: 'boolean' },
  follow: { type: 'boolean', short: 'f' },
  check: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
} as const;

export interface Invocation {
  command: CommandName;
  names: string[];
  target: Target;
  /** A session of the device's panel. */
  session: string | undefined;
  /** Who logs in. */
  user: string | undefined;
  /** Parameters of the operation, beside the package. */
  parameters: Record<string, string>;
  isJson: boolean;
  isDetached: boolean;
  isFollowing: boolean;
  isCheckOnly: boolean;
  /** `depotctl` with the options that lead to the same daemon, for hints that can be pasted. */
  self: string;
}

export type CommandLine =
  { invocation: Invocation } | { print: 'help' | 'version' } | { problem: string };

/** @param session the one to use if the words name none */
export function parseCommandLine(words: string[], session?: string): CommandLine {
  try {
    const { values, positionals } = parseArgs({
      args: words,
      options: OPTIONS,
      allowPositionals: true,
    });
    if (values.help === true) return { print: 'help' };
    if (values.version === true) return { print: 'version' };
    return {
      invocation: checkInvocation(
        session === undefined ? values : { session, ...values },
        positionals,
      ),
    };
  } catch (error) {
    return { problem: reasonOf(error) };
  }
}

type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values'];

function checkInvocation(values: Values, [command, ...names]: string[]): Invocation {
  if (command === undefined) {
    throw new Error(`cannot do anything without a command: ${Object.keys(COMMANDS).join(', ')}`);
  }
  if (!isCommand(command)) {
    throw new Error(
      `cannot run "${command}": the commands are ${Object.keys(COMMANDS).join(', ')}`,
    );
  }
  checkNames(command, names);
  checkOptions(command, values);
  const { base } = values;
  const url = values.url ?? usualUrl();
  return {
    command,
    names,
    target: parseTarget(url, base),
    session: checkSession(values.session),
    user: values.user,
    parameters: parametersOf(values),
    isJson: values.json,
    isDetached: values.detach === true,
    isFollowing: values.follow === true,
    isCheckOnly: values.check === true,
    self: [
      'depotctl',
      ...(values.url === undefined ? [] : [`--url ${values.url}`]),
      ...(base === undefined ? [] : [`--base ${base}`]),
    ].join(' '),
  };
}

function checkNames(command: CommandName, names: readonly string[]): void {
  const {
    form,
    names: [least, most],
  } = COMMANDS[command];
  if (names.length < least) throw new Error(`cannot ${command} nothing: usage: depotctl ${form}`);
  if (names.length > most) {
    throw new Error(`cannot use "${names[most] ?? ''}": usage: depotctl ${form}`);
  }
}

function checkOptions(command: CommandName, values: Values): void {
  const allowed: readonly OwnOption[] = COMMANDS[command].options;
  const foreign = OWN_OPTIONS.find((name) => values[name] !== undefined && !allowed.includes(name));
  if (foreign !== undefined) {
    throw new Error(
      `cannot use --${foreign} with ${command}: usage: depotctl ${COMMANDS[command].form}`,
    );
  }
  if (
    command === 'install' &&
    values.autoconf !== true &&
    (values.path ?? values.enable) !== undefined
  ) {
    throw new Error(
      'cannot use --path or --enable without --autoconf: they are for the configuration',
    );
  }
  if (values.overwrite !== undefined && !['true', 'chdir'].includes(values.overwrite)) {
    throw new Error(`cannot use --overwrite ${values.overwrite}: true or chdir is expected`);
  }
  if (values.enable !== undefined && !['0', '1'].includes(values.enable)) {
    throw new Error(`cannot use --enable ${values.enable}: 0 or 1 is expected`);
  }
}

/** It goes into a header, and into no message: who reads it is logged in. */
function checkSession(session: string | undefined): string | undefined {
  if (session !== undefined && !/^[0-9a-f]{32}$/.test(session)) {
    throw new Error(
      'cannot use the session: 32 hexadecimal digits are expected, as in the cookie ' +
        'sysauth_http of the panel',
    );
  }
  return session;
}

function parametersOf({ overwrite, autoconf, path, enable }: Values): Record<string, string> {
  return {
    ...(overwrite !== undefined && { overwrite }),
    ...(autoconf === true && { autoconf: '1' }),
    ...(path !== undefined && { path }),
    ...(enable !== undefined && { enable }),
  };
}
