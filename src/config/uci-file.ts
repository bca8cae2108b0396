/** One section of a UCI file. Options keep the line they stand in, for messages. */
export interface UciSection {
  type: string;
  name: string | undefined;
  line: number;
  options: UciOption[];
}

export interface UciOption {
  name: string;
  value: string;
  isList: boolean;
  line: number;
}

export interface UciFile {
  sections: UciSection[];
  /** Mistakes in the file: what is wrong and where (lines count from 1). */
  problems: { line: number; message: string }[];
}

/**
 * Turns UCI syntax into data: `package`, `config TYPE ['NAME']`, `option NAME 'VALUE'`, `list NAME
 * 'VALUE'`; words bare, in single quotes (taken as they are) or in double quotes (backslash
 * escapes); comments from `#` to the end of the line; a backslash at the end of a line continues
 * it. A line that is wrong becomes a problem and the rest is still read. Source: OpenWrt's UCI
 * documentation and the behaviour of uci(1).
 */
export function parseUciFile(text: string): UciFile {
  const file: UciFile = { sections: [], problems: [] };
  for (const { line, words, problem } of splitStatements(text)) {
    const message = problem ?? addStatement(file, words, line);
    if (message !== undefined) file.problems.push({ line, message });
  }
  return file;
}

/** @returns what is wrong with the statement, if anything is */
function addStatement({ sections }: UciFile, words: string[], line: number): string | undefined {
  const [keyword = '', first, second] = words;
  if (keyword === 'package') return undefined;
  if (words.length > 3 || first === undefined) {
    return `cannot read "${words.join(' ')}": ${EXPECTED[keyword] ?? ANY_STATEMENT}`;
  }
  if (keyword === 'config') {
    sections.push({ type: first, name: second, line, options: [] });
    return undefined;
  }
  return addOption(sections.at(-1), [keyword, first, second], line);
}

const EXPECTED: Record<string, string> = {
  config: '"config TYPE [NAME]" is expected',
  option: '"option NAME VALUE" is expected',
  list: '"list NAME VALUE" is expected',
};
const ANY_STATEMENT = 'config, option or list is expected';

function addOption(
  section: UciSection | undefined,
  [keyword, name, value]: readonly [string, string, string | undefined],
  line: number,
): string | undefined {
  if (keyword !== 'option' && keyword !== 'list') {
    return `cannot read "${keyword}": ${ANY_STATEMENT}`;
  }
  if (section === undefined) return `cannot place "${keyword} ${name}" before the first section`;
  if (value === undefined) {
    return `cannot read ${keyword} ${name}: "${keyword} NAME VALUE" is expected`;
  }
  section.options.push({ name, value, isList: keyword === 'list', line });
  return undefined;
}

interface Statement {
  line: number;
  words: string[];
  problem?: string;
}

/** Splits the text into one list of words a statement; quotes may span lines, as uci(1) allows. */
function splitStatements(text: string): Statement[] {
  const statements: Statement[] = [];
  let line = 1;
  let position = 0;
  while (position < text.length) {
    const statement: Statement = { line, words: [] };
    const end = readStatement(text, position, statement);
    line += text.slice(position, end).split('\n').length - 1;
    position = end;
    if (statement.words.length > 0 || statement.problem !== undefined) statements.push(statement);
  }
  return statements;
}

/** Reads words from `start` up to and with the end of the line; returns the position behind it. */
function readStatement(text: string, start: number, statement: Statement): number {
  let position = start;
  while (position < text.length) {
    const character = text.charAt(position);
    if (character === '\n' || character === ';') return position + 1;
    if (character === '#') {
      const end = text.indexOf('\n', position);
      return end === -1 ? text.length : end + 1;
    }
    if (/\s/.test(character)) position += 1;
    else if (character === '\\' && text.charAt(position + 1) === '\n') position += 2;
    else position = readWord(text, position, statement);
  }
  return position;
}

const BARE_WORD = /(?:[^\s'"#;\\]|\\[\s\S])+/y;
const SINGLE_QUOTED = /'([^']*)'/y;
const DOUBLE_QUOTED = /"((?:[^"\\]|\\[\s\S])*)"/y;
const PATTERN_OF: Record<string, RegExp> = { "'": SINGLE_QUOTED, '"': DOUBLE_QUOTED };

/** Reads one word, which may be several quoted and bare parts without white space between them. */
function readWord(text: string, start: number, statement: Statement): number {
  let position = start;
  let word = '';
  while (position < text.length && !/[\s;#]/.test(text.charAt(position))) {
    const part = readPart(text, position);
    if (part === undefined) {
      const quote = text.charAt(position);
      statement.problem = `cannot find the end of the quote that opens with ${quote}`;
      return text.length;
    }
    word += part.value;
    position = part.end;
  }
  statement.words.push(word);
  return position;
}

function readPart(text: string, start: number): { value: string; end: number } | undefined {
  const quote = text.charAt(start);
  const pattern = PATTERN_OF[quote] ?? BARE_WORD;
  pattern.lastIndex = start;
  const match = pattern.exec(text);
  if (match === null) return quote === '\\' ? { value: '', end: start + 1 } : undefined;
  const raw = match[1] ?? match[0];
  return {
    value:
      quote === "'"
        ? raw
        : raw.replace(/\\([\s\S])/g, (_, escaped: string) => (escaped === '\n' ? '' : escaped)),
    end: pattern.lastIndex,
  };
}
