import { COMMAND_NAMES, commandText, type CommandName } from './commands.ts';
import { NOTES, usageOf } from './help.ts';
import { COMMON_OPTIONS, optionForm, ownOption, type OptionText } from './options.ts';

/**
 * depotctl(1), in the macros of man(7).
 * @param version of depotd
 */
export function manPage(version: string): string {
  return [
    `.TH DEPOTCTL 1 "" "depotd ${escape(version)}" "depotd"`,
    '.SH NAME',
    'depotctl \\- apps and packages of a router or NAS, from the command line',
    '.SH SYNOPSIS',
    '.B depotctl',
    escape('[OPTION…] COMMAND [OPTION…] [NAME…]'),
    '.SH DESCRIPTION',
    'depotctl asks depotd, the daemon on the device, over HTTP.',
    'Whatever takes longer than a moment is a task of the daemon: it goes on when depotctl ends.',
    '.SH COMMANDS',
    ...COMMAND_NAMES.flatMap(commandSection),
    '.SH OPTIONS',
    ...Object.entries(COMMON_OPTIONS).flatMap(optionSection),
    '.SH NOTES',
    ...NOTES.flatMap((note) => ['.PP', escape(note)]),
    '.SH ENVIRONMENT',
    ...tagged('DEPOTCTL_SESSION', "a session of the device's panel, as \\-\\-session"),
    ...tagged('NO_COLOR', 'if it is set and not empty, nothing is coloured'),
    '',
  ].join('\n');
}

function commandSection(name: CommandName): string[] {
  const { meaning, about = [], options, examples = [] } = commandText(name);
  return [
    ...tagged(usageOf(name), `${escape(meaning)}.`),
    ...about.flatMap((text) => ['.IP', escape(text)]),
    ...(options.length === 0
      ? []
      : ['.RS', ...options.flatMap((option) => optionSection([option, ownOption(option)])), '.RE']),
    ...examples.flatMap((example) => ['.IP', '.nf', escape(example), '.fi']),
  ];
}

function optionSection([name, text]: readonly [string, OptionText]): string[] {
  return tagged(optionForm(name, text), escape(text.meaning));
}

/** @param body text that is escaped already */
function tagged(tag: string, body: string): string[] {
  return ['.TP', `.B ${escape(tag)}`, body];
}

/** roff's own characters as they stand, and a dot at the start of a line. */
function escape(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('…', '...')
    .replace(/^(?=[.'])/, '\\&');
}
