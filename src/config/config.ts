import { readFileSync } from 'node:fs';
import { DepotError, reasonOf, systemCode } from '../errors.ts';
import { findContradictions } from './contradictions.ts';
import { OPTIONS, type Option } from './options.ts';
import { parseUciFile } from './uci-file.ts';

export const DEFAULT_CONFIG_FILE = '/etc/config/depotd';

type Table = typeof OPTIONS;
type SectionName = keyof Table;
type ValueOf<Entry> = Entry extends Option<infer Value> ? Value : never;

/**
 * The configuration as the daemon uses it: `config.main.keep_jobs` and so on, checked and complete.
 */
export type Config = {
  [Section in SectionName]: { [Name in keyof Table[Section]]: ValueOf<Table[Section][Name]> };
};

/** One value as somebody wrote it, and where, for messages: `FILE:LINE` or `--set`. */
interface Setting {
  section: string;
  name: string;
  values: string[];
  where: string;
}

export interface ConfigSource {
  /** The file to read; undefined: the default file, which need not be there. */
  file: string | undefined;
  /**
   * `SECTION.OPTION=VALUE`, which override the file; a list option given twice gets both values.
   */
  overrides: string[];
}

/**
 * Reads and checks the whole configuration.
 * @returns the configuration, or every problem found, each one sentence that names file and line
 *   (or `--set`) and the option
 */
export function readConfig(source: ConfigSource): { config: Config; problems: string[] } {
  const problems: string[] = [];
  const settings = [
    ...readFile(source.file, problems),
    ...readOverrides(source.overrides, problems),
  ];
  const config = defaults();
  const failed = new Set<string>();
  for (const setting of settings) {
    const problem = apply(config, setting);
    if (problem === undefined) continue;
    failed.add(`${setting.section}.${setting.name}`);
    problems.push(problem);
  }
  problems.push(...contradictions(config, settings, failed));
  return { config, problems };
}

/**
 * Like readConfig, for callers that go on only with a good one. @throws DepotError bad_request with
 * all problems
 */
export function loadConfig(source: ConfigSource): Config {
  const { config, problems } = readConfig(source);
  if (problems.length > 0) throw new DepotError('bad_request', problems.join('\n'));
  return config;
}

function readFile(file: string | undefined, problems: string[]): Setting[] {
  const path = file ?? DEFAULT_CONFIG_FILE;
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (file === undefined && systemCode(error) === 'ENOENT') return [];
    problems.push(`cannot read the configuration ${path}: ${reasonOf(error)}`);
    return [];
  }
  return settingsOf(text, path, problems);
}

function settingsOf(text: string, path: string, problems: string[]): Setting[] {
  const uci = parseUciFile(text);
  problems.push(...uci.problems.map(({ line, message }) => `${path}:${line}: ${message}`));
  const settings = new Map<string, Setting>();
  for (const section of uci.sections) {
    const name = section.name ?? section.type;
    if (!isSection(name)) {
      problems.push(
        `${path}:${section.line}: cannot use the section ${name}: ${Object.keys(OPTIONS).join(', ')} are known`,
      );
    } else {
      for (const option of section.options) {
        addOption({ settings, section: name, path, problems }, option);
      }
    }
  }
  return [...settings.values()];
}

function addOption(
  {
    settings,
    section,
    path,
    problems,
  }: { settings: Map<string, Setting>; section: string; path: string; problems: string[] },
  { name, value, isList, line }: { name: string; value: string; isList: boolean; line: number },
): void {
  const key = `${section}.${name}`;
  const known = settings.get(key);
  const where = `${path}:${line}`;
  if (optionOf(section, name)?.isList === false && isList) {
    problems.push(`${where}: cannot use list for ${key}: it takes one value (option)`);
  } else if (isList && known !== undefined) known.values.push(value);
  else settings.set(key, { section, name, values: [value], where });
}

function readOverrides(overrides: string[], problems: string[]): Setting[] {
  const settings = new Map<string, Setting>();
  for (const override of overrides) {
    const match = /^([^.=]+)\.([^=]+)=([\s\S]*)$/.exec(override);
    if (match === null) {
      problems.push(`--set ${override}: cannot read it: SECTION.OPTION=VALUE is expected`);
      continue;
    }
    const [, section = '', name = '', value = ''] = match;
    const known = settings.get(`${section}.${name}`);
    if (known !== undefined && optionOf(section, name)?.isList === true) known.values.push(value);
    else settings.set(`${section}.${name}`, { section, name, values: [value], where: '--set' });
  }
  return [...settings.values()];
}

function defaults(): Config {
  const entries = Object.entries(OPTIONS).map(([section, options]) => {
    const values = Object.entries(options).map(([name, option]): [string, unknown] => [
      name,
      (option as Option<unknown>).fallback,
    ]);
    return [section, Object.fromEntries(values)] as const;
  });
  return Object.fromEntries(entries) as Config;
}

/** @returns what is wrong with the setting, if so */
function apply(config: Config, { section, name, values, where }: Setting): string | undefined {
  const option = optionOf(section, name);
  if (option === undefined) {
    const known = isSection(section)
      ? `${section} has ${Object.keys(OPTIONS[section]).join(', ')}`
      : `${Object.keys(OPTIONS).join(', ')} are the sections`;
    return `${where}: cannot use ${section}.${name}: no such option; ${known}`;
  }
  try {
    (config as Record<string, Record<string, unknown>>)[section] = {
      ...config[section as SectionName],
      [name]: option.parse(values),
    };
    return undefined;
  } catch (error) {
    return `${where}: cannot use ${section}.${name} "${values.join(' ')}": ${reasonOf(error)}`;
  }
}

/**
 * Contradictions, each with the place of the option to change. One that rests on a value that
 * could not be read is left out: its own problem says enough.
 */
function contradictions(
  config: Config,
  settings: readonly Setting[],
  failed: ReadonlySet<string>,
): string[] {
  const places = new Map(settings.map(({ section, name, where }) => [`${section}.${name}`, where]));
  return findContradictions(config)
    .filter(({ options }) => !options.some((option) => failed.has(option)))
    .map(({ options, message }) => {
      const where = options.map((option) => places.get(option)).find((text) => text !== undefined);
      return where === undefined ? message : `${where}: ${message}`;
    });
}

function isSection(name: string): name is SectionName {
  return Object.hasOwn(OPTIONS, name);
}

function optionOf(section: string, name: string): Option<unknown> | undefined {
  if (!isSection(section)) return undefined;
  const options: Record<string, Option<unknown>> = OPTIONS[section];
  return Object.hasOwn(options, name) ? options[name] : undefined;
}
