import { COMMAND_NAMES, commandText, type CommandName } from './commands.ts';
import { NOTES, usageOf } from './help.ts';
import { COMMON_OPTIONS, optionForm, ownOption, type OptionText } from './options.ts';

/** Puts a text into the page's language. */
type Word = (text: string) => string;

/**
 * depotctl(1), in the macros of man(7).
 * @param version of depotd
 * @param word by default the page is English
 */
export function manPage(version: string, word: Word = (text) => text): string {
  const section = (heading: string): string => `.SH ${word(heading)}`;
  const said = (text: string): string => escape(word(text));
  return [
    `.TH DEPOTCTL 1 "" "depotd ${escape(version)}" "depotd"`,
    section('NAME'),
    `depotctl \\- ${said('apps and packages of a router or NAS, from the command line')}`,
    section('SYNOPSIS'),
    '.B depotctl',
    said('[OPTION…] COMMAND [OPTION…] [NAME…]'),
    section('DESCRIPTION'),
    said('depotctl asks depotd, the daemon on the device, over HTTP.'),
    said(
      'Whatever takes longer than a moment is a task of the daemon: it goes on when depotctl ends.',
    ),
    section('COMMANDS'),
    ...COMMAND_NAMES.flatMap((name) => commandSection(name, said, word)),
    section('OPTIONS'),
    ...Object.entries(COMMON_OPTIONS).flatMap((option) => optionSection(option, said)),
    section('NOTES'),
    ...NOTES.flatMap((note) => ['.PP', said(note)]),
    section('ENVIRONMENT'),
    ...tagged('DEPOTCTL_SESSION', said("a session of the device's panel, as --session")),
    ...tagged('NO_COLOR', said('if it is set and not empty, nothing is coloured')),
    '',
  ].join('\n');
}

function commandSection(name: CommandName, said: Word, word: Word): string[] {
  const { meaning, about = [], options, examples = [] } = commandText(name);
  return [
    ...tagged(usageOf(name), `${said(meaning)}${word('.')}`),
    ...about.flatMap((text) => ['.IP', said(text)]),
    ...(options.length === 0
      ? []
      : [
          '.RS',
          ...options.flatMap((option) => optionSection([option, ownOption(option)], said)),
          '.RE',
        ]),
    ...examples.flatMap((example) => ['.IP', '.nf', escape(example), '.fi']),
  ];
}

function optionSection([name, text]: readonly [string, OptionText], said: Word): string[] {
  return tagged(optionForm(name, text), said(text.meaning));
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
