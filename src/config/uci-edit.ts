import { parseUciFile, type UciOption, type UciSection } from './uci-file.ts';
import { DepotError } from '../errors.ts';

export interface UciPlace {
  section: string;
  /** Type of the section if it has to be made. */
  type: string;
  option: string;
}

/** The value in force: of several lines the last one counts. */
export function readUciOption(text: string, { section, option }: UciPlace): string | undefined {
  return optionIn(sectionIn(text, section), option)?.value;
}

/**
 * Sets one option in a UCI file and leaves every other line as it is, comments too. The result is
 * read again: it must say what was meant and nothing else.
 * @throws DepotError internal if the file is written so that this cannot be done
 */
export function setUciOption(text: string, place: UciPlace, value: string): string {
  const result = waysToSet(text, place, quote(value)).find((candidate) =>
    isSet(text, place, { value, candidate }),
  );
  if (result === undefined) {
    throw new DepotError(
      'internal',
      `cannot set ${place.section}.${place.option}: its line is written in a way that only ` +
        'an editor can change',
    );
  }
  return result;
}

function waysToSet(
  text: string,
  { section: name, type, option }: UciPlace,
  quoted: string,
): string[] {
  const section = sectionIn(text, name);
  const line = `\toption ${option} ${quoted}`;
  if (section === undefined) {
    return [
      `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}\nconfig ${type} ` +
        `'${name}'\n${line}\n`,
    ];
  }
  const lines = text.split('\n');
  const known = optionIn(section, option);
  if (known === undefined) return [lines.toSpliced(section.line, 0, line).join('\n')];
  // With its blanks and its comment; if the value is written in several parts, anew.
  const kept = (lines[known.line - 1] ?? '').replace(
    OPTION_LINE,
    (_, before: string, after: string) => `${before}${quoted}${after}`,
  );
  return [kept, line].map((replacement) => lines.with(known.line - 1, replacement).join('\n'));
}

const OPTION_LINE = /^(\s*option\s+\S+\s+)(?:'[^']*'|"(?:[^"\\]|\\.)*"|[^\s'"#;]+)(\s*(?:#.*)?)$/;

function sectionIn(text: string, name: string): UciSection | undefined {
  return parseUciFile(text).sections.findLast((section) => section.name === name);
}

function optionIn(section: UciSection | undefined, name: string): UciOption | undefined {
  return section?.options.findLast((option) => option.name === name && !option.isList);
}

function quote(value: string): string {
  return `'${value.replaceAll("'", "'\\''")}'`;
}

/** Whether the candidate has the option so, and else says what the text did. */
function isSet(
  text: string,
  place: UciPlace,
  { value, candidate }: { value: string; candidate: string },
): boolean {
  return (
    readUciOption(candidate, place) === value &&
    JSON.stringify(withoutOption(text, place)) === JSON.stringify(withoutOption(candidate, place))
  );
}

function withoutOption(text: string, { section, option }: UciPlace): unknown[] {
  const { sections, problems } = parseUciFile(text);
  const rest = sections.map(({ type, name, options }) => ({
    type,
    name,
    options: options
      .filter((entry) => name !== section || entry.name !== option)
      .map((entry) => [entry.name, entry.value, entry.isList]),
  }));
  return [
    problems.map(({ message }) => message),
    ...rest.filter(({ name, options }) => name !== section || options.length > 0),
  ];
}
