import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import * as fc from 'fast-check';

import { parseUciFile, type UciFile } from '../../../src/config/uci-file.ts';
import { runCommand } from '../../device/command.ts';
import { property, type FuzzTarget } from '../target.ts';

const name = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,8}$/);
const value = fc.string({ unit: 'grapheme', maxLength: 12 }).filter((text) => !text.includes('\0'));
const option = fc.record({ name, value, isList: fc.boolean(), style: fc.nat(2) });
const section = fc.record({
  type: name,
  name: fc.option(name, { nil: undefined }),
  options: fc.array(option, { maxLength: 4 }),
});
const fragments = fc.constantFrom(
  'config',
  'option',
  'list',
  'package',
  ' ',
  '\t',
  '\n',
  '\r\n',
  ';',
  '#',
  "'",
  '"',
  '\\',
  '\\\n',
  'a',
  'main',
  '\0',
  'é',
  "'x y'",
  '"x\\"y"',
);

/** What was written comes back; and whatever is read without a problem, uci(1) reads the same. */
export async function uciTargets(uci: string | undefined): Promise<FuzzTarget[]> {
  const written = property('uci', 2000, {
    inputs: fc.array(section, { maxLength: 4 }),
    check: (sections) => {
      const text = sections.map(textOf).join('');
      const { sections: read, problems } = parseUciFile(text);
      if (problems.length > 0) return `${JSON.stringify(text)}: ${problems[0]?.message ?? ''}`;
      const expected = sections.map(({ type, name: called, options }) => [
        type,
        called,
        options.map((each) => [each.name, each.value, each.isList]),
      ]);
      const found = read.map(({ type, name: called, options }) => [
        type,
        called,
        options.map((each) => [each.name, each.value, each.isList]),
      ]);
      return JSON.stringify(expected) === JSON.stringify(found)
        ? undefined
        : `${JSON.stringify(text)} is read as ${JSON.stringify(found)}`;
    },
  });
  const junk = property('uci junk', 3000, {
    inputs: fc.array(fc.oneof(fragments, fc.string({ maxLength: 6 })), { maxLength: 40 }),
    check: (pieces) => {
      const { problems } = parseUciFile(pieces.join(''));
      return problems.every(({ line, message }) => line >= 1 && message !== '')
        ? undefined
        : 'a problem without line or message';
    },
  });
  return uci === undefined ? [written, junk] : [written, junk, await againstUci(uci)];
}

async function againstUci(uci: string): Promise<FuzzTarget> {
  const folder = await mkdtemp(join(tmpdir(), 'depotd-fuzz-uci-'));
  const statement = fc.oneof(
    fc
      .record({ type: name, called: fc.option(name) })
      .map(({ type, called }) =>
        called === null ? `config ${type}\n` : `config ${type} '${called}'\n`,
      ),
    option.map((each) => `\t${each.isList ? 'list' : 'option'} ${each.name} ${quoted(each)}\n`),
    fc.array(fragments, { maxLength: 5 }).map((pieces) => `${pieces.join('')}\n`),
  );
  const target = property('uci by uci(1)', 40, {
    inputs: fc
      .array(statement, { maxLength: 8 })
      .map((lines) => `config a 'first'\n${lines.join('')}`),
    check: async (text) => {
      const file = parseUciFile(text);
      if (file.problems.length > 0 || text.includes('\0')) return undefined;
      // Its export quotes no type, so that one with quotes in it cannot be read again.
      if (file.sections.some(({ type }) => !/^[\w-]+$/.test(type))) return undefined;
      await writeFile(join(folder, 'fuzz'), text);
      const { code, stdout, stderr } = await runCommand([uci, '-c', folder, 'export', 'fuzz']);
      // It refuses names and types that are no identifiers; the daemon knows its names anyway.
      if (code !== 0 || stderr !== '') return undefined;
      const [ours, theirs] = [textsOf(file), textsOf(parseUciFile(stdout))];
      return ours === theirs ? undefined : `${JSON.stringify(text)}: ${ours}, and uci(1) ${theirs}`;
    },
  });
  return { ...target, close: () => rm(folder, { recursive: true, force: true }) };
}

/** Of each section the values that count: the last of an option, all of a list. */
function textsOf({ sections }: UciFile): string {
  const merged = new Map<string, Map<string, string[]>>();
  sections.forEach(({ type, name: called, options }, index) => {
    const key = called ?? `@${type}[${index}]`;
    const values = merged.get(key) ?? new Map<string, string[]>();
    for (const each of options) {
      // To uci(1) an option without a text is none; the daemon says that it cannot use it.
      if (!each.isList && each.value === '') continue;
      const before = each.isList ? (values.get(each.name) ?? []) : [];
      values.set(each.name, [...before, each.value]);
    }
    merged.set(key, values);
  });
  return JSON.stringify([...merged].map(([key, values]) => [key, [...values].sort()]));
}

function textOf({
  type,
  name: called,
  options,
}: {
  type: string;
  name: string | undefined;
  options: { name: string; value: string; isList: boolean; style: number }[];
}): string {
  const lines = options.map(
    (each) => `\t${each.isList ? 'list' : 'option'} ${each.name} ${quoted(each)}\n`,
  );
  return `config ${type}${called === undefined ? '' : ` '${called}'`}\n${lines.join('')}\n`;
}

/** In single quotes, in double quotes, or bare with a backslash before each sign. */
function quoted({ value: text, style }: { value: string; style: number }): string {
  if (style === 0) return `'${text.replaceAll("'", `'"'"'`)}'`;
  if (style === 1 || text === '') return `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
  return Array.from(text, (sign) => (/^[\w.]$/.test(sign) ? sign : quotedSign(sign))).join('');
}

function quotedSign(sign: string): string {
  // A backslash before a line break joins the lines.
  return sign.includes('\n') ? `'${sign}'` : `\\${sign}`;
}
