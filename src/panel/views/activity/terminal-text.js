/**
 * What a terminal would show of a program's output: colours, carriage returns, and the moves within
 * the last lines with which progress bars are drawn (ECMA-48). Lines are numbered from the first
 * one ever written; the oldest are forgotten.
 */
export function createTerminalText({ mostLines = 4000 } = {}) {
  const screen = {
    lines: [blankLine()],
    firstLine: 0,
    row: 0,
    column: 0,
    ink: PLAIN,
    changedFrom: 0,
    mostLines,
  };
  let rest = '';

  return {
    write: (text) => {
      const all = rest + text;
      const end = wholeUntil(all);
      rest = all.slice(end);
      for (const [piece] of all.slice(0, end).matchAll(PIECES)) apply(screen, piece);
    },
    /**
     * The lines that differ since the last call: `{ firstLine, from, lines }`, where `from` is the
     * number of the first of `lines`.
     */
    readChanges: () => {
      const from = Math.max(screen.changedFrom, screen.firstLine);
      const lines = screen.lines.slice(from - screen.firstLine).map(runsOf);
      screen.changedFrom = screen.firstLine + screen.lines.length;
      return { firstLine: screen.firstLine, from, lines };
    },
    text: () => screen.lines.map((line) => line.text.trimEnd()).join('\n'),
  };
}

/** Longer lines are broken, so that one without end does not stop the page. */
const MOST_COLUMNS = 2000;
/** How far a program may go back up: the height of the terminal that the daemon gives it. */
const SCREEN_ROWS = 24;
/** Ink is a character a cell: colour 0 is none, 1 to 16 are the terminal's; bold is added. */
const PLAIN = String.fromCharCode(0);
const BOLD = 32;

const CSI = /^\x1b\[([0-9;:?<=>]*)[ -/]*([@-~])$/;
const PIECES = new RegExp(
  [
    /\x1b\[[0-?]*[ -/]*[@-~]/,
    /\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?/,
    /\x1b[ -/]*[0-~]/,
    /[\x00-\x1f\x7f]/,
    /[^\x00-\x1f\x7f]+/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
);
/** A sequence that began at the end of the text and may go on in the next. */
const UNFINISHED = /^\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]*\x1b?|[ -/]*)$/;

/** A sequence longer than this is none. */
const MOST_SEQUENCE = 256;

function wholeUntil(text) {
  const at = text.lastIndexOf('\x1b');
  return at >= 0 && text.length - at < MOST_SEQUENCE && UNFINISHED.test(text.slice(at))
    ? at
    : text.length;
}

function blankLine() {
  return { text: '', ink: '' };
}

function apply(screen, piece) {
  if (piece.startsWith('\x1b')) {
    const [, parameters, final] = CSI.exec(piece) ?? [];
    // Private sequences (ECMA-48, section 5.4.1) are not these, and their parameters no numbers.
    if (final !== undefined && !/[<=>?]/.test(parameters)) {
      MOVES[final]?.(screen, parameters.split(/[;:]/).map(Number));
    }
    return;
  }
  if (piece >= ' ' && piece !== '\x7f') print(screen, piece);
  else CONTROLS[piece]?.(screen);
}

const CONTROLS = {
  '\n': (screen) => {
    goToRow(screen, screen.row + 1);
    screen.column = 0;
  },
  '\r': (screen) => (screen.column = 0),
  '\b': (screen) => (screen.column = Math.max(0, screen.column - 1)),
  '\t': (screen) =>
    (screen.column = Math.min(MOST_COLUMNS - 1, (Math.floor(screen.column / 8) + 1) * 8)),
};

const MOVES = {
  A: (screen, [count]) => goToRow(screen, screen.row - (count || 1)),
  B: (screen, [count]) =>
    goToRow(screen, Math.min(screen.row + (count || 1), screen.lines.length - 1)),
  C: (screen, [count]) =>
    (screen.column = Math.min(MOST_COLUMNS - 1, screen.column + (count || 1))),
  D: (screen, [count]) => (screen.column = Math.max(0, screen.column - (count || 1))),
  G: (screen, [column]) => (screen.column = Math.min(MOST_COLUMNS, Math.max(1, column)) - 1),
  J: (screen, [part]) => {
    if (part !== 0) return;
    eraseInLine(screen, 0);
    screen.lines.length = screen.row + 1;
  },
  K: (screen, [part]) => eraseInLine(screen, part),
  m: (screen, codes) => (screen.ink = inkAfter(screen.ink, codes)),
};

function goToRow(screen, row) {
  const { lines } = screen;
  screen.row = Math.max(row, lines.length - SCREEN_ROWS, 0);
  if (screen.row < lines.length) return;
  lines.push(blankLine());
  touch(screen, lines.length - 1);
  // In blocks, so that a line costs no move of all the others.
  const surplus = lines.length - screen.mostLines;
  if (surplus < screen.mostLines / 4) return;
  lines.splice(0, surplus);
  screen.firstLine += surplus;
  screen.row -= surplus;
}

function touch(screen, row) {
  screen.changedFrom = Math.min(screen.changedFrom, screen.firstLine + row);
}

function print(screen, text) {
  for (let at = 0; at < text.length;) {
    if (screen.column >= MOST_COLUMNS) CONTROLS['\n'](screen);
    const part = text.slice(at, at + MOST_COLUMNS - screen.column);
    overwrite(screen, part);
    at += part.length;
  }
}

function overwrite(screen, part) {
  const line = screen.lines[screen.row];
  const { column, ink } = screen;
  line.text =
    line.text.slice(0, column).padEnd(column) + part + line.text.slice(column + part.length);
  line.ink =
    line.ink.slice(0, column).padEnd(column, PLAIN) +
    ink.repeat(part.length) +
    line.ink.slice(column + part.length);
  screen.column += part.length;
  touch(screen, screen.row);
}

/** 0: from the cursor to the end, 1: from the start to the cursor, 2: all of it. */
function eraseInLine(screen, part) {
  const line = screen.lines[screen.row];
  if (part === 0) {
    Object.assign(line, {
      text: line.text.slice(0, screen.column),
      ink: line.ink.slice(0, screen.column),
    });
  } else if (part === 2) Object.assign(line, blankLine());
  else if (part === 1) {
    Object.assign(line, {
      text: ' '.repeat(screen.column) + line.text.slice(screen.column),
      ink: PLAIN.repeat(screen.column) + line.ink.slice(screen.column),
    });
  }
  touch(screen, screen.row);
}

/**
 * Select Graphic Rendition: bold and the sixteen colours; of the 256 colours the first sixteen;
 * others count as none.
 */
function inkAfter(ink, codes) {
  let value = ink.charCodeAt(0);
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at];
    if (code === 38 || code === 48) {
      if (code === 38) {
        value = withColour(
          value,
          codes[at + 1] === 5 && codes[at + 2] < 16 ? codes[at + 2] + 1 : 0,
        );
      }
      at += codes[at + 1] === 5 ? 2 : 4;
    } else value = inkWith(value, code);
  }
  return String.fromCharCode(value);
}

function inkWith(value, code) {
  if (code === 0) return 0;
  if (code === 1) return value | BOLD;
  if (code === 22) return value & ~BOLD;
  if (code === 39) return withColour(value, 0);
  if (code >= 30 && code <= 37) return withColour(value, code - 29);
  if (code >= 90 && code <= 97) return withColour(value, code - 81);
  return value;
}

function withColour(value, colour) {
  return (value & BOLD) | colour;
}

/** A line as runs of the same ink: `[{ text, colour, isBold }]`. */
function runsOf({ text, ink }) {
  const runs = [];
  for (let begin = 0; begin < text.length;) {
    let end = begin + 1;
    while (end < text.length && ink[end] === ink[begin]) end += 1;
    const value = ink.charCodeAt(begin);
    runs.push({
      text: text.slice(begin, end),
      colour: value & ~BOLD,
      isBold: (value & BOLD) !== 0,
    });
    begin = end;
  }
  return runs;
}

/** Length of UTF-8 in which no character is cut (RFC 3629, section 3). */
export function wholeCharacters(bytes) {
  let lead = bytes.length - 1;
  while (lead >= 0 && lead > bytes.length - 4 && (bytes[lead] & 0xc0) === 0x80) lead -= 1;
  const first = bytes[lead];
  const size = [0xf0, 0xe0, 0xc0].findIndex((mark) => first >= mark);
  return size >= 0 && lead + 4 - size > bytes.length ? lead : bytes.length;
}
