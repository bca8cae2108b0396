import { parseArgs } from 'node:util';
import { reasonOf, systemCode } from '../errors.ts';
import { parseTarget, usualUrl } from './daemon-target.ts';
import {
  COMMAND_NAMES,
  commandText,
  isCommand,
  namesOf,
  type CommandName,
} from './usage/commands.ts';
import { usageOf } from './usage/help.ts';
import { nearest } from '../nearest.ts';
import {
  COMMON_OPTIONS,
  OWN_OPTIONS,
  ownOption,
  type OptionName,
  type OptionText,
} from './usage/options.ts';

export type Invocation = ReturnType<typeof checkInvocation>;

export type CommandLine =
  | { invocation: Invocation }
  | { print: 'help' | 'version'; about?: CommandName }
  | { problem: string };

/** @param session the one to use if the words name none */
export function parseCommandLine(words: string[], session?: string): CommandLine {
  try {
    const { values, positionals } = parse(words);
    const [command, ...names] = positionals;
    if (values.help === true) return helpOn(command);
    if (command === 'help') return helpOn(names[0]);
    if (values.version === true) return { print: 'version' };
    const given = session === undefined ? values : { session, ...values };
    return { invocation: checkInvocation(given, positionals) };
  } catch (error) {
    return { problem: reasonOf(error) };
  }
}

type Values = Readonly<Record<string, string | boolean | undefined>>;

const ALL_OPTIONS: Readonly<Record<string, OptionText>> = { ...OWN_OPTIONS, ...COMMON_OPTIONS };

/** @throws Error that names the option that is not known, and the one that was probably meant */
function parse(words: string[]): { values: Values; positionals: string[] } {
  try {
    return parseArgs({
      args: words,
      options: Object.fromEntries(Object.entries(ALL_OPTIONS).map(option)),
      allowPositionals: true,
    });
  } catch (error) {
    if (systemCode(error) === 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE') throw valueProblem(error);
    if (systemCode(error) !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION') throw error;
    const [, dashes = '', name = ''] = /'(--?)([^'=]+)/.exec(reasonOf(error)) ?? [];
    if (name === '') throw error;
    const known = dashes === '--' ? Object.keys(ALL_OPTIONS) : [];
    const written = dashes + name;
    const what = `cannot use '${written}': there is no such option`;
    throw new Error(`${what}${didYouMean(nearest(name, known), '--')}`);
  }
}

/** What is wrong with an option's value, in words that are said in other languages. */
function valueProblem(error: unknown): unknown {
  const [, written = '', name = ''] = /'(?:-., )?(--([\w-]+))/.exec(reasonOf(error)) ?? [];
  const found = ALL_OPTIONS[name];
  if (found === undefined) return error;
  const { argument } = found;
  return new Error(
    argument === undefined
      ? `cannot use ${written} with a value: it takes none`
      : `cannot use ${written} without a value: it is given as ${written}=${argument}`,
  );
}

function option([name, { short, argument }]: [string, OptionText]) {
  const type = argument === undefined ? 'boolean' : 'string';
  return [name, { type, ...(short !== undefined && { short }) }] as const;
}

function didYouMean(word: string | undefined, prefix = ''): string {
  return word === undefined ? '' : `; did you mean ${prefix}${word}?`;
}

function helpOn(name: string | undefined): CommandLine {
  return name === undefined ? { print: 'help' } : { print: 'help', about: checkCommand(name) };
}

function checkCommand(word: string): CommandName {
  if (isCommand(word)) return word;
  const meant = nearest(word, COMMAND_NAMES);
  throw new Error(
    meant === undefined
      ? `cannot run "${word}": the commands are ${COMMAND_NAMES.join(', ')}`
      : `cannot run "${word}": there is no such command${didYouMean(meant)}`,
  );
}

function checkInvocation(values: Values, [word, ...names]: string[]) {
  if (word === undefined) {
    throw new Error(`cannot do anything without a command: ${COMMAND_NAMES.join(', ')}`);
  }
  const command = checkCommand(word);
  checkNames(command, names);
  checkWords(command, names);
  checkOptions(command, values);
  const [url, base] = [textOf(values, 'url'), textOf(values, 'base')];
  return {
    command,
    names,
    target: parseTarget(url ?? usualUrl(), base),
    /** A session of the device's panel. */
    session: checkSession(textOf(values, 'session')),
    /** Who logs in. */
    user: textOf(values, 'user'),
    /** Parameters of the operation, beside the package. */
    parameters: parametersOf(values),
    /** A file with the public key of a feed. */
    keyFile: textOf(values, 'key'),
    /** The options that are there, with a value or without. */
    given: new Set(Object.keys(values) as OptionName[]),
    /** `depotctl` with the options that lead to the same daemon, for hints that can be pasted. */
    self: [
      'depotctl',
      ...(url === undefined ? [] : [`--url ${url}`]),
      ...(base === undefined ? [] : [`--base ${base}`]),
    ].join(' '),
  };
}

function textOf(values: Values, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}

function checkNames(command: CommandName, names: readonly string[]): void {
  const [least, most] = namesOf(command);
  if (names.length < least) {
    const wanted = wantedBy(command);
    throw new Error(
      `cannot run "${command}" without ${wanted}: usage: depotctl ${usageOf(command)}`,
    );
  }
  // Without a name some commands mean all, or the newest. Anything may be searched for.
  const blank = command === 'search' ? undefined : names.find((name) => name.trim() === '');
  const wrong = names.length > most ? (names[most] ?? '') : blank;
  if (wrong !== undefined) {
    throw new Error(`cannot use "${wrong}": usage: depotctl ${usageOf(command)}`);
  }
}

/** What has to stand behind its name: `NAME` as its usage has it, or `bash, zsh or fish`. */
function wantedBy(command: CommandName): string {
  const { form, words } = commandText(command);
  if (words !== undefined) return listed(Object.keys(words));
  return /^[A-Z]+/.exec(form)?.[0] ?? 'NAME';
}

function listed(words: readonly string[]): string {
  if (words.length === 1) return words[0] ?? '';
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1) ?? ''}`;
}

function checkWords(command: CommandName, [word, ...names]: readonly string[]): void {
  const { words } = commandText(command);
  if (words === undefined || word === undefined) return;
  const bounds = words[word];
  if (bounds === undefined) {
    const known = Object.keys(words);
    const meant = didYouMean(nearest(word, known));
    throw new Error(`cannot run "${command} ${word}": ${listed(known)} is expected${meant}`);
  }
  if (names.length < bounds[0] || names.length > bounds[1]) {
    const count = names.length === 1 ? '1 name' : `${names.length} names`;
    throw new Error(
      `cannot run "${command} ${word}" with ${count}: usage: depotctl ${usageOf(command)}`,
    );
  }
}

function checkOptions(command: CommandName, values: Values): void {
  const allowed: readonly string[] = commandText(command).options;
  const own = Object.keys(OWN_OPTIONS) as (keyof typeof OWN_OPTIONS)[];
  const given = own.filter((name) => values[name] !== undefined);
  const foreign = given.find((name) => !allowed.includes(name));
  if (foreign !== undefined) {
    throw new Error(`cannot use --${foreign} with ${command}: usage: depotctl ${usageOf(command)}`);
  }
  const isPlain = command === 'install' && values.autoconf !== true;
  if (isPlain && (values.path ?? values.enable) !== undefined) {
    throw new Error(
      'cannot use --path or --enable without --autoconf: they are for the configuration',
    );
  }
  for (const name of given) {
    const [value, expected] = [textOf(values, name), ownOption(name).values];
    if (value === undefined || expected === undefined || expected.includes(value)) continue;
    throw new Error(`cannot use --${name} ${value}: ${expected.join(' or ')} is expected`);
  }
  const seconds = textOf(values, 'confirm');
  if (seconds !== undefined && !/^(?:[3-9]\d|[1-5]\d\d|600)$/.test(seconds)) {
    throw new Error(`cannot use --confirm ${seconds}: 30 to 600 seconds are expected`);
  }
}

/** A session's key goes into a header, and into no message: who reads it is logged in. */
function checkSession(session: string | undefined): string | undefined {
  if (session !== undefined && !/^[0-9a-f]{32}$/.test(session)) {
    throw new Error(
      'cannot use the session: 32 hexadecimal digits are expected, as in the cookie ' +
        'sysauth_http of the panel',
    );
  }
  return session;
}

function parametersOf(values: Values): Record<string, string> {
  const texts = (['overwrite', 'path', 'enable'] as const).flatMap((name) => {
    const value = textOf(values, name);
    return value === undefined ? [] : [[name, value] as const];
  });
  const seconds = textOf(values, 'confirm');
  return {
    ...(seconds !== undefined && { confirm_s: seconds }),
    ...(values['with-packages'] === true && { with_packages: '1' }),
    ...(values['as-new'] === true && { as: 'new' }),
    ...(values.autoconf === true && { autoconf: '1' }),
    ...(values.untranslated === true && { translations: '0' }),
    ...(values.system === true && { system: '1' }),
    ...(values.purge === true && { purge: '1' }),
    ...Object.fromEntries(texts),
  };
}
