import { parseUciFile, type UciFile, type UciOption, type UciSection } from './uci-file.ts';
import { DepotError } from '../errors.ts';

export interface UciPlace {
  section: string;
  /** Type of the UCI section if it has to be made. */
  type: string;
  option: string;
}

/** The value in force: of several lines the last one counts. */
export function readUciOption(text: string, { section, option }: UciPlace): string | undefined {
  return optionIn(sectionIn(text, section), option)?.value;
}

/** Leaves every other line as it is. @throws DepotError internal if that cannot be done */
export function setUciOption(text: string, place: UciPlace, value: string): string {
  const file = parseUciFile(text);
  const meant = withOption(file.sections, place, value);
  const result = waysToSet(text, place, quote(value)).find((each) => saysSo(each, file, meant));
  if (result !== undefined) return result;
  throw new DepotError(
    'internal',
    `cannot set ${place.section}.${place.option}: its line is written in a way that only ` +
      'an editor can change',
  );
}

/** Whether what was written says what was meant and nothing else: it is read again. */
export function saysSo(written: string, { problems }: UciFile, meant: UciSection[]): boolean {
  return contentOf(parseUciFile(written)) === contentOf({ problems, sections: meant });
}

function contentOf({ sections, problems }: UciFile): string {
  return JSON.stringify([
    problems.map(({ message }) => message),
    sections.map(({ type, name, options }) => [
      type,
      name,
      options.map((entry) => [entry.name, entry.value, entry.isList]),
    ]),
  ]);
}

function withOption(
  sections: UciSection[],
  { section: name, type, option }: UciPlace,
  value: string,
): UciSection[] {
  const wanted = { name: option, value, isList: false, line: 0 };
  const at = sections.findLastIndex((section) => section.name === name);
  const section = sections[at];
  if (section === undefined) return [...sections, { type, name, line: 0, options: [wanted] }];
  const { options } = section;
  const known = optionIn(section, option);
  return sections.with(at, {
    ...section,
    options:
      known === undefined ? [wanted, ...options] : options.with(options.indexOf(known), wanted),
  });
}

function waysToSet(
  text: string,
  { section: name, type, option }: UciPlace,
  quoted: string,
): string[] {
  const section = sectionIn(text, name);
  const line = `\toption ${option} ${quoted}`;
  if (section === undefined) return [`${withNewSection(text, { name, type })}${line}\n`];
  const lines = text.split('\n');
  const known = optionIn(section, option);
  if (known === undefined) return [lines.toSpliced(section.line, 0, line).join('\n')];
  // The line keeps its blanks and comment; if the value is written in several parts, anew.
  const kept = (lines[known.line - 1] ?? '').replace(
    OPTION_LINE,
    (_, before: string, after: string) => `${before}${quoted}${after}`,
  );
  return [kept, line].map((replacement) => lines.with(known.line - 1, replacement).join('\n'));
}

export function withNewSection(
  text: string,
  { name, type }: { name: string; type: string },
): string {
  const end = text === '' || text.endsWith('\n') ? '' : '\n';
  return `${text}${end}\nconfig ${type} '${name}'\n`;
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
