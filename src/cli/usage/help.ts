import { COMMAND_NAMES, commandText, type CommandName } from './commands.ts';
import { COMMON_OPTIONS, optionForm, ownOption, type OptionText } from './options.ts';
import { wrap } from '../terminal/width.ts';

const COLUMNS = 80;
/** Of a usage line's continuation. */
const INDENT = 6;
/** Forms that are longer have a line of their own. */
const MOST_FORM_COLUMNS = 30;

/** All commands, one line each. */
export function helpText(): string {
  const rows = COMMAND_NAMES.map((name) => [formOf(name), commandText(name).meaning] as const);
  const common = Object.entries(COMMON_OPTIONS).map(optionRow);
  return `usage: depotctl [OPTION…] COMMAND [OPTION…] [NAME…]

${twoColumns(rows)}

${twoColumns(common)}

depotctl help COMMAND says more of one, and which options it takes.
${NOTES.map((note) => wrap(note, COLUMNS).join('\n')).join('\n')}
`;
}

/** One command, its options and examples. */
export function commandHelp(name: CommandName): string {
  const { meaning, about = [], options, examples = [] } = commandText(name);
  const own = options.map((option) => optionRow([option, ownOption(option)]));
  const common = Object.entries(COMMON_OPTIONS).map(optionRow);
  return [
    wrap(`usage: depotctl ${usageOf(name)}`, COLUMNS - INDENT).join(`\n${' '.repeat(INDENT)}`),
    [`${name}: ${meaning}.`, ...about].map((text) => wrap(text, COLUMNS).join('\n')).join('\n'),
    ...(own.length === 0 ? [] : [twoColumns(own)]),
    twoColumns(common),
    ...(examples.length === 0 ? [] : [`for example:\n${examples.map(indented).join('\n')}`]),
    '',
  ]
    .join('\n\n')
    .replace(/\n+$/, '\n');
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

/** What holds for all commands; a paragraph each. */
export const NOTES = [
  'TASK and UPLOAD are an id or the beginning of one, as jobs and uploads show it; TASK may be ' +
    '"latest".',
  'login and passwd ask at a terminal. Else they read standard input: the password on its first ' +
    'line; for passwd, the old one on its second.',
  "Whether a log-in is needed, main.auth says: none: no; password: depotd's own; panel: a user " +
    'and password of the device. The first password root sets.',
  'Exit codes: 0 done, 1 the job failed or was refused, 2 usage, 3 the daemon cannot be reached.',
];

function formOf(name: CommandName): string {
  return `${name} ${commandText(name).form}`.trimEnd();
}

function optionRow([name, text]: readonly [string, OptionText]): readonly [string, string] {
  return [optionForm(name, text), text.meaning];
}

function twoColumns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(
    ...rows.map(([form]) => (form.length > MOST_FORM_COLUMNS ? 0 : form.length)),
  );
  const margin = ' '.repeat(width + 4);
  return rows
    .map(([form, meaning]) => {
      const [first = '', ...rest] = wrap(meaning, COLUMNS - width - 4);
      const head =
        form.length > width ? `  ${form}\n${margin}${first}` : `  ${form.padEnd(width)}  ${first}`;
      return [head, ...rest.map((line) => margin + line)].join('\n');
    })
    .join('\n');
}

function indented(line: string): string {
  return `  ${line}`;
}
