import { readFile } from 'node:fs/promises';
import { DepotError } from '../../../errors.ts';
import { setUciOption } from '../../../config/uci-edit.ts';
import { parseUciFile, type UciSection } from '../../../config/uci-file.ts';
import { addUciSection, removeUciOption, removeUciSection } from '../../../config/uci-sections.ts';
import { ownValue } from '../../../package-management/names.ts';
import { readMac, readSerial } from '../controller-id.ts';
import type { Work } from '../rollout/work.ts';
import type { FleetJobTools } from './fleet-job-tools.ts';

/** Texts of the files that settings change, and what that is, for people. */
interface ChangedSettings {
  configs: Record<string, string>;
  changed: Record<string, string>;
  diff: string[];
}

/**
 * What settings make of the device's configuration. Nothing is written.
 * @throws DepotError not_found if a section is not there: nobody knows what type it would have
 */
export async function readChangedSettings(
  tools: FleetJobTools,
  work: Work,
): Promise<ChangedSettings> {
  const settings = Object.entries(await expandSettings(tools, work));
  const result: ChangedSettings = { configs: {}, changed: {}, diff: [] };
  // Sections go first, then others come, then options are set in them.
  for (const [name, value] of settings.sort((one, other) => rankOf(one) - rankOf(other))) {
    const [config = ''] = name.split('.');
    let text = ownValue(result.changed, config);
    if (text === undefined) {
      text = await readFile(`${tools.paths.uciDir}/${config}`, 'utf8').catch(() => undefined);
      if (text === undefined) throw missing(name);
      result.configs[config] = text;
    }
    const change = changeOf(text, name, value);
    result.changed[config] = change.text;
    result.diff.push(...change.diff);
  }
  return result;
}

function rankOf([name, value]: [string, string | null]): number {
  if (name.split('.').length > 2) return 2;
  return value === null ? 0 : 1;
}

interface Change {
  text: string;
  diff: string[];
}

function changeOf(text: string, name: string, value: string | null): Change {
  const [, section = '', option] = name.split('.');
  const own = parseUciFile(text).sections.filter((each) => each.name === section);
  if (option !== undefined) {
    if (own.length === 0) throw missing(name);
    const before = own.flatMap(({ options }) => options.filter((each) => each.name === option));
    return changedOption(text, { name, section, option, value, before });
  }
  if (value === null) {
    if (own.length === 0) return { text, diff: [] };
    const diff = `${name}: removed (${own.map(({ type }) => type).join(', ')})`;
    return { text: removeUciSection(text, section), diff: [diff] };
  }
  const other = own.find(({ type }) => type !== value);
  if (other !== undefined) {
    throw new DepotError('conflict', `cannot make ${name}: it is there, as ${other.type}`);
  }
  if (own.length > 0) return { text, diff: [] };
  return { text: addUciSection(text, { name: section, type: value }), diff: [`${name}: ${value}`] };
}

interface Setting {
  name: string;
  section: string;
  option: string;
  value: string | null;
  before: UciSection['options'];
}

function changedOption(text: string, { name, section, option, value, before }: Setting): Change {
  const old = before.map((each) => each.value).join(' ');
  if (value === null ? before.length === 0 : before.length > 0 && old === value) {
    return { text, diff: [] };
  }
  const diff = [`${name}: ${shownValue(option, old)} → ${shownValue(option, value ?? '')}`];
  if (value === null) return { text: removeUciOption(text, section, option), diff };
  // The type is not used: the section is there.
  return { text: setUciOption(text, { section, type: '', option }, value), diff };
}

function missing(name: string): DepotError {
  return new DepotError('not_found', `cannot set ${name}: there is no such section`);
}

const SECRET = /key|pass|psk|pwd|secret|token|private|credential|pin$|^sae/i;
const MOST_SHOWN = 200;

/** A secret is no message: neither by the name of its option nor within an address. */
function shownValue(option: string, value: string): string {
  if (value === '') return '(none)';
  if (SECRET.test(option) || /:\/\/[^/\s]*@/.test(value)) return '(hidden)';
  return value.slice(0, MOST_SHOWN);
}

const VARIABLE = /%(%|attr\.[A-Za-z0-9_.-]*[A-Za-z0-9_]|[a-z]+)/g;

/**
 * The settings with what is this device's own in the place of `%mac`, `%serial`, `%hostname` and
 * `%attr.NAME`, as the server knows it; `%%` is a percent sign.
 * @throws DepotError bad_request, unavailable that names the variable
 */
async function expandSettings(
  { paths, attributes }: Pick<FleetJobTools, 'paths' | 'attributes'>,
  { settings, templates }: Pick<Work, 'settings' | 'templates'>,
): Promise<Work['settings']> {
  let known: Record<string, string> | undefined;
  const attribute = async (name: string): Promise<string | undefined> =>
    (known ??= await attributes())[name];
  const valueOf = async (variable: string): Promise<string | undefined> => {
    if (variable === '%') return '%';
    if (variable === 'mac') return readMac(paths);
    if (variable === 'serial') return readSerial(paths);
    if (variable === 'hostname') return attribute('hostname');
    const name = /^attr\.(.+)$/.exec(variable)?.[1];
    if (name !== undefined) return attribute(name);
    throw new DepotError('bad_request', `cannot set a value: nobody knows %${variable}`);
  };
  const expanded: Work['settings'] = { ...settings };
  for (const setting of templates) {
    const template = settings[setting] ?? null;
    if (template === null) continue;
    const values = new Map<string, string>();
    for (const [, variable = ''] of template.matchAll(VARIABLE)) {
      const value = (await valueOf(variable))?.replace(/[\0-\x1f\x7f]/g, '') ?? '';
      if (value !== '') values.set(variable, value);
      else {
        const text = `cannot set ${setting}: this device has no %${variable}`;
        throw new DepotError('unavailable', text);
      }
    }
    expanded[setting] = template.replace(VARIABLE, (_, name: string) => values.get(name) ?? '');
  }
  return expanded;
}
