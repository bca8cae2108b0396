import { COMMAND_NAMES, commandText, type CommandName } from './commands.ts';
import { COMMON_OPTIONS, optionForm, ownOption, type OptionText } from './options.ts';
import type { Output } from '../terminal/output.ts';
import { hanging, wrap } from '../terminal/width.ts';

/** Width of the help if nobody says how wide the terminal is, such as in a pipe. */
const USUAL_COLUMNS = 80;
/** Below that two columns are hard to read, and so are longer lines than that. */
const [LEAST_COLUMNS, MOST_COLUMNS] = [40, 100];
/** Blanks before the continuation of a usage line. */
const INDENT = 6;
/** Share of the width; forms of commands that are longer have a line of their own. */
const MOST_OF_FORM = 3 / 8;

type HelpLook = Pick<Output['look'], 'columns' | 'word'>;

/** All commands, one line each. */
export function helpText({ columns, word }: HelpLook): string {
  const width = widthFor(columns);
  const rows = COMMAND_NAMES.map(
    (name) => [formOf(name), word(commandText(name).meaning)] as const,
  );
  const common = Object.entries(COMMON_OPTIONS).map((option) => optionRow(option, word));
  return `${usageLine(word('[OPTION…] COMMAND [OPTION…] [NAME…]'), width, word)}

${twoColumns(rows, width)}

${twoColumns(common, width)}

${[MORE, ...NOTES].map((note) => wrap(word(note), width).join('\n')).join('\n')}
`;
}

/** One command, its options and examples. */
export function commandHelp(name: CommandName, { columns, word }: HelpLook): string {
  const width = widthFor(columns);
  const { meaning, about = [], options, examples = [] } = commandText(name);
  const own = options.map((option) => optionRow([option, ownOption(option)], word));
  const common = Object.entries(COMMON_OPTIONS).map((option) => optionRow(option, word));
  return [
    usageLine(usageOf(name), width, word),
    [`${name}: ${word(meaning)}${word('.')}`, ...about.map(word)]
      .map((text) => wrap(text, width).join('\n'))
      .join('\n'),
    ...(own.length === 0 ? [] : [twoColumns(own, width)]),
    twoColumns(common, width),
    ...(examples.length === 0
      ? []
      : [`${word('for example:')}\n${examples.map((line) => `  ${line}`).join('\n')}`]),
    '',
  ]
    .join('\n\n')
    .replace(/\n+$/, '\n');
}

function widthFor(columns = USUAL_COLUMNS): number {
  return Math.max(LEAST_COLUMNS, Math.min(columns, MOST_COLUMNS));
}

function usageLine(form: string, width: number, word: HelpLook['word']): string {
  return wrapForm(`${word('usage: ')}depotctl ${form}`, width);
}

function wrapForm(text: string, width: number): string {
  return hanging('', wrap(text, width - INDENT), INDENT).join('\n');
}

/** `install NAME… [--dry-run] [-y]`, for complaints about usage. */
export function usageOf(name: CommandName): string {
  const { options } = commandText(name);
  const brackets = options.map((option) => {
    const { argument } = ownOption(option);
    return argument === undefined ? `[--${option}]` : `[--${option} ${argument}]`;
  });
  return [formOf(name), ...brackets].join(' ');
}

const MORE = 'depotctl help COMMAND says more of one, and which options it takes.';

/** What holds for all commands; a paragraph each. */
export const NOTES = [
  'TASK and UPLOAD are an id or the beginning of one, as jobs and uploads show it; TASK may be ' +
    '"latest".',
  'An option that is given twice counts as it was given last.',
  'login and passwd ask at a terminal. Else they read standard input: the password on its first ' +
    'line; for passwd, the old one on its second.',
  "Whether a log-in is needed, main.auth says: none: no; password: depotd's own; panel: a user " +
    'and password of the device. The first password root sets.',
  'Exit codes: 0 done, 1 the job failed or was refused, 2 usage, 3 the daemon cannot be reached, ' +
    '130 after Ctrl-C.',
];

function formOf(name: CommandName): string {
  return `${name} ${commandText(name).form}`.trimEnd();
}

function optionRow(
  [name, text]: readonly [string, OptionText],
  word: HelpLook['word'],
): readonly [string, string] {
  return [optionForm(name, text), word(text.meaning)];
}

function twoColumns(rows: readonly (readonly [string, string])[], columns: number): string {
  const mostOfForm = Math.floor(columns * MOST_OF_FORM);
  const width = Math.max(...rows.map(([form]) => (form.length > mostOfForm ? 0 : form.length)));
  const margin = width + 4;
  return rows
    .flatMap(([form, meaning]) => {
      const lead =
        form.length > width
          ? `  ${wrapForm(form, columns - 2)}\n${' '.repeat(margin)}`
          : `  ${form.padEnd(width)}  `;
      return hanging(lead, wrap(meaning, columns - margin), margin);
    })
    .join('\n');
}
