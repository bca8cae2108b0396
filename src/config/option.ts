/**
 * How a text is checked and what it becomes; an Error of `parse` ends "cannot use … : <message>".
 */
export interface Option<Value> {
  /** For docs/configuration.md: what it means, with its unit. */
  meaning: string;
  isList: boolean;
  fallback: Value;
  parse: (values: string[]) => Value;
}

export type OptionTable = Readonly<Record<string, Option<unknown>>>;

/** What a section is once it is read. The types follow from the table. */
export type ValuesOf<Options extends OptionTable> = {
  [Name in keyof Options]: Options[Name] extends Option<infer Value> ? Value : never;
};

/** A section of the configuration; a feature may bring one. */
export interface Section<Options extends OptionTable = OptionTable> {
  name: string;
  options: Options;
  /** Options that cannot change under running jobs. */
  needsRestart?: readonly string[];
  /** What is wrong with values that are fine one by one. */
  contradictions?(values: ValuesOf<Options>): Contradiction[];
  /** What goes badly with `main` as it is: `--check` says so. */
  doubts?(values: ValuesOf<Options>, main: { base: string }): Contradiction[];
  /** Options with the path of a file that has to be there; `--check` says which are not. */
  files?: readonly string[];
  /** Options of earlier releases: they do nothing now, and `--check` says so. */
  former?: readonly string[];
}

/** Options of one section that do not go together. */
export interface Contradiction {
  /** Names of the options; the first is the one to change. */
  options: readonly [string, ...string[]];
  message: string;
}

export function text(
  meaning: string,
  fallback: string,
  check: (value: string) => string,
): Option<string> {
  return { meaning, isList: false, fallback, parse: ([value = '']) => check(value) };
}

export function list(
  meaning: string,
  fallback: string[],
  check: (value: string) => string,
): Option<string[]> {
  return { meaning, isList: true, fallback, parse: (values) => values.map(check) };
}

export function integer(
  meaning: string,
  fallback: number,
  [least, most]: [number, number],
): Option<number> {
  const parse = ([value = '']: string[]): number => {
    const parsed = /^\d{1,9}$/.test(value) ? Number(value) : NaN;
    if (!(parsed >= least && parsed <= most)) {
      throw new Error(`a whole number from ${least} to ${most} is expected`);
    }
    return parsed;
  };
  return { meaning, isList: false, fallback, parse };
}

/** The first choice is the default. */
export function choice<const Choice extends string>(
  meaning: string,
  choices: readonly [Choice, ...Choice[]],
): Option<Choice> {
  const parse = ([value = '']: string[]): Choice => {
    const found = choices.find((candidate) => candidate === value);
    if (found === undefined) throw new Error(`one of ${choices.join(', ')} is expected`);
    return found;
  };
  return { meaning, isList: false, fallback: choices[0], parse };
}

export function anyText(value: string): string {
  return value;
}

/** Absolute and normalised: no `.` or `..`, no empty part, no NUL and no line break. */
export function absolutePath(value: string): string {
  if (!isNormalisedPath(value)) throw new Error('an absolute, normalised path is expected');
  return value;
}

/** The path of a file, absolute and normalised; empty: none. */
export function filePath(meaning: string): Option<string> {
  return text(meaning, '', (value) => (value === '' ? value : absolutePath(value)));
}

/** A path of unreserved URL characters (RFC 3986, section 2.3), without a slash at its end. */
export function basePath(value: string): string {
  if (!/^(\/[A-Za-z0-9._~-]+)+$/.test(value) || !isNormalisedPath(value)) {
    throw new Error('a path such as /cgi-bin/panel is expected');
  }
  return value;
}

/** Address of a server: host, port, prefix alone. @returns it without slashes at its end */
export function serverAddress(value: string, isAllowed: (url: URL) => boolean): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const more = [url?.username, url?.password, url?.search, url?.hash];
  if (url === undefined || more.some((part) => part !== '') || !isAllowed(url)) {
    throw new Error('https://host[:port][/prefix] is expected');
  }
  return value.replace(/\/+$/, '');
}

function isNormalisedPath(value: string): boolean {
  if (value === '/') return true;
  if (!value.startsWith('/') || /[\0\n\r]/.test(value)) return false;
  const segments = value.slice(1).split('/');
  return segments.every((part) => part !== '' && part !== '.' && part !== '..');
}
