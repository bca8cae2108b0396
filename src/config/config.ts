import { accessSync, constants } from 'node:fs';
import { DepotError, reasonOf } from '../errors.ts';
import { MAIN_SECTION } from './options.ts';
import type { Contradiction, OptionTable, Section, ValuesOf } from './option.ts';
import { readSettings, type ConfigSource, type Setting, type Tables } from './settings.ts';

/** The configuration, checked and complete: by section and option. */
export interface Config {
  main: ValuesOf<typeof MAIN_SECTION.options>;
  /** Sections of features, which `valuesOf` reads. */
  [section: string]: Readonly<Record<string, unknown>>;
}

/** A feature's own section. @throws Error if the configuration was read without it */
export function valuesOf<Options extends OptionTable>(
  config: Config,
  { name }: Section<Options>,
): ValuesOf<Options> {
  const values = config[name];
  if (values === undefined) throw new Error(`cannot read the section ${name}: nobody brings it`);
  // The section's values were made by this very table.
  return values as ValuesOf<Options>;
}

/**
 * @param sections those that features bring; `main` is there without
 * @returns also what may not work (warnings), and every problem: a sentence each with file and line
 *   (or `--set`) and the option
 */
export function readConfig(
  source: ConfigSource,
  sections: readonly Section[] = [],
): { config: Config; problems: string[]; warnings: string[] } {
  const known: readonly Section[] = [MAIN_SECTION, ...sections];
  const tables: Tables = new Map(known.map(({ name, options }) => [name, options]));
  const problems: string[] = [];
  const former = new Set(
    known.flatMap((section) => (section.former ?? []).map((name) => `${section.name}.${name}`)),
  );
  const isFormer = ({ key }: Setting): boolean => former.has(key);
  const all = readSettings(source, { tables, problems });
  const settings = all.filter((setting) => !isFormer(setting));
  const config = defaults(known);
  const failed = new Set<string>();
  for (const setting of settings) {
    const problem = apply(config, tables, setting);
    if (problem === undefined) continue;
    failed.add(setting.key);
    problems.push(problem);
  }
  const placed = (section: Section, found: Contradiction[] = []): string[] =>
    contradictions(section, found, { settings, failed });
  problems.push(
    ...known.flatMap((each) => placed(each, each.contradictions?.(valuesOf(config, each)))),
  );
  const warnings = [
    ...all.filter(isFormer).map(({ key, where }) => `${where}: ${key} does nothing any more`),
    ...known.flatMap((section) => unreadable(section, settings)),
    ...known.flatMap((each) => placed(each, each.doubts?.(valuesOf(config, each), config.main))),
  ];
  return { config, problems, warnings };
}

/** The files that settings name and that cannot be read now: they may come later. */
function unreadable({ name, files = [] }: Section, settings: readonly Setting[]): string[] {
  return files.flatMap((option) => {
    const setting = settings.findLast(({ key }) => key === `${name}.${option}`);
    const file = setting?.values.at(-1) ?? '';
    if (setting === undefined || file === '' || isReadable(file)) return [];
    return [`${setting.where}: ${setting.key} names ${file}, which cannot be read`];
  });
}

function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/** Like readConfig, for who needs a good one. @throws DepotError bad_request with all problems */
export function loadConfig(source: ConfigSource, sections: readonly Section[] = []): Config {
  const { config, problems } = readConfig(source, sections);
  if (problems.length > 0) throw new DepotError('bad_request', problems.join('\n'));
  return config;
}

function defaults(sections: readonly Section[]): Config {
  const entries = sections.map(({ name, options }) => [
    name,
    Object.fromEntries(
      Object.entries(options).map(([option, { fallback }]) => [option, fallback] as const),
    ),
  ]);
  return Object.fromEntries(entries) as Config;
}

/** @returns what is wrong with the setting, if so */
function apply(
  config: Record<string, unknown>,
  tables: Tables,
  { key, section, name, values, where }: Setting,
): string | undefined {
  const table = tables.get(section);
  const option = table !== undefined && Object.hasOwn(table, name) ? table[name] : undefined;
  if (table === undefined || option === undefined) {
    const known =
      table === undefined
        ? `${[...tables.keys()].join(', ')} are the sections`
        : `${section} has ${Object.keys(table).join(', ')}`;
    return `${where}: cannot use ${key}: no such option; ${known}`;
  }
  try {
    config[section] = { ...(config[section] as object), [name]: option.parse(values) };
    return undefined;
  } catch (error) {
    return `${where}: cannot use ${key} "${values.join(' ')}": ${reasonOf(error)}`;
  }
}

/**
 * Each with the line of the option to change. One that rests on a value that could not be read is
 * left out: its own problem says enough.
 */
function contradictions(
  section: Section,
  found: readonly Contradiction[],
  { settings, failed }: { settings: readonly Setting[]; failed: ReadonlySet<string> },
): string[] {
  const lines = new Map(settings.map(({ key, where }) => [key, where]));
  return found.flatMap(({ options, message }) => {
    const names = options.map((option) => `${section.name}.${option}`);
    if (names.some((name) => failed.has(name))) return [];
    const where = names.map((name) => lines.get(name)).find((text) => text !== undefined);
    return where === undefined ? message : `${where}: ${message}`;
  });
}

/**
 * The next configuration as far as it may be applied while the daemon runs. `waiting`: what differs
 * and needs a restart, `SECTION.OPTION`.
 */
export function withoutRestart(
  running: Config,
  next: Config,
  sections: readonly Section[] = [],
): { config: Config; waiting: string[] } {
  const config = { ...next };
  const waiting: string[] = [];
  for (const { name, needsRestart = [] } of [MAIN_SECTION, ...sections]) {
    const [before, after] = [running[name], next[name]];
    const kept = needsRestart.map((option) => [option, before?.[option]] as const);
    for (const [option, value] of kept) {
      if (value !== after?.[option]) waiting.push(`${name}.${option}`);
    }
    Object.assign(config, { [name]: { ...after, ...Object.fromEntries(kept) } });
  }
  return { config, waiting };
}
