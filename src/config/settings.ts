import { lstatSync, readFileSync } from 'node:fs';
import { reasonOf, systemCode } from '../errors.ts';
import type { OptionTable } from './option.ts';
import { parseUciFile } from './uci-file.ts';

export const DEFAULT_CONFIG_FILE = '/etc/config/depotd';

/** The type of a section without a name that is `main`, as `uci add depotd depotd` makes it. */
const PACKAGE = 'depotd';

/** The options that are known, by section. */
export type Tables = ReadonlyMap<string, OptionTable>;

/** One value as somebody wrote it, and where, for messages: `FILE:LINE` or `--set`. */
export interface Setting {
  /** `SECTION.OPTION` */
  key: string;
  section: string;
  name: string;
  values: string[];
  where: string;
}

export interface ConfigSource {
  /** The file to read; undefined: the default file, which need not be there. */
  file: string | undefined;
  /** `SECTION.OPTION=VALUE`, ahead of the file; a list option may come several times. */
  overrides: string[];
}

interface Reading {
  tables: Tables;
  problems: string[];
}

/** What the file says, and behind it what overrides it. */
export function readSettings({ file, overrides }: ConfigSource, reading: Reading): Setting[] {
  return [...readFile(file, reading), ...readOverrides(overrides, reading)];
}

function readFile(file: string | undefined, reading: Reading): Setting[] {
  const path = file ?? DEFAULT_CONFIG_FILE;
  let text: string;
  try {
    // Read before anybody writes to it, it would wait for ever. A link may lead to a pipe, as
    // /dev/stdin does.
    if (lstatSync(path).isFIFO()) throw new Error('it is a fifo');
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (file === undefined && systemCode(error) === 'ENOENT') return [];
    reading.problems.push(`cannot read the configuration ${path}: ${reasonOf(error)}`);
    return [];
  }
  return settingsOf(text, path, reading);
}

function settingsOf(text: string, path: string, { tables, problems }: Reading): Setting[] {
  const uci = parseUciFile(text);
  problems.push(...uci.problems.map(({ line, message }) => `${path}:${line}: ${message}`));
  const settings = new Map<string, Setting>();
  for (const section of uci.sections) {
    const name = section.name ?? (section.type === PACKAGE ? 'main' : section.type);
    const table = tables.get(name);
    if (table === undefined) {
      problems.push(
        `${path}:${section.line}: cannot use the section ${name}: ` +
          `${[...tables.keys()].join(', ')} are known`,
      );
    } else {
      for (const option of section.options) {
        const where = `${path}:${option.line}`;
        if (option.isList && acceptsList(table, option.name) === false) {
          const key = `${name}.${option.name}`;
          problems.push(`${where}: cannot use list for ${key}: it takes one value (option)`);
        } else addOption(settings, name, { ...option, where });
      }
    }
  }
  return [...settings.values()];
}

function addOption(
  settings: Map<string, Setting>,
  section: string,
  { name, value, isList, where }: { name: string; value: string; isList: boolean; where: string },
): void {
  const key = `${section}.${name}`;
  const known = settings.get(key);
  if (isList && known !== undefined) known.values.push(value);
  else settings.set(key, { key, section, name, values: [value], where });
}

function readOverrides(overrides: string[], { tables, problems }: Reading): Setting[] {
  const settings = new Map<string, Setting>();
  for (const override of overrides) {
    const [, section, name = '', value = ''] = /^([^.=]+)\.([^=]+)=([\s\S]*)$/.exec(override) ?? [];
    if (section === undefined) {
      problems.push(`--set ${override}: cannot read it: SECTION.OPTION=VALUE is expected`);
      continue;
    }
    const isList = acceptsList(tables.get(section), name) === true;
    addOption(settings, section, { name, value, isList, where: '--set' });
  }
  return [...settings.values()];
}

/** Whether the option is a list; undefined if there is none of that name */
function acceptsList(table: OptionTable | undefined, name: string): boolean | undefined {
  return table !== undefined && Object.hasOwn(table, name) ? table[name]?.isList : undefined;
}
