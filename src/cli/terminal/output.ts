import { StringDecoder } from 'node:string_decoder';
import { reasonOf } from '../../errors.ts';
import { voiceOf, type Voice } from '../../languages/languages.ts';
import { inert, inertJson, inertOutput } from './others-text.ts';
import { createPaint, inertBetweenShades } from './paint.ts';
import { fitting, wrapMessage } from './width.ts';

export type Output = ReturnType<typeof createOutput>;

/** A line of so many columns at most; what is longer is cut. */
type StatusText = (columns: number) => string;

const EXIT_FAILED = 1;
/** As a shell tells the end by Ctrl-C. */
const EXIT_INTERRUPTED = 130;
const INTERRUPTED = 'interrupted';

/** As a shell tells the end by SIGPIPE, which Node's programs do not get: 128 and 13. */
const EXIT_PIPE = 141;

/** Back to the start of the line, and what stands there erased (ECMA-48, EL). */
const CLEAR_LINE = '\r\x1b[K';

/**
 * What the program says: results and logs on standard output, its own words on standard error. It
 * is the one way to either, and nothing that others wrote acts on who reads it. It ends the program
 * when its reader has gone, such as `head`, and with one sentence at Ctrl-C or when the disk is
 * full that what is printed goes to.
 * @param isColoured whether the owner wants colours at all
 * @param voice puts what is said into the reader's language
 */
export function createOutput(
  isColoured: boolean,
  { say: translate, word, remedyOf, isEnglish }: Omit<Voice, 't'> = voiceOf('en'),
) {
  const { stdin, stdout, stderr } = process;
  for (const stream of [stdout, stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(EXIT_PIPE);
      if (stream === stdout) say(`cannot write standard output: ${reasonOf(error)}`);
      process.exit(EXIT_FAILED);
    });
  }
  const status = createStatusLine();
  const hasShades = isColoured && stdout.isTTY;
  const logDecoder = new StringDecoder('utf8');
  const write = (text: string): Promise<void> =>
    new Promise((resolve) => {
      status.hide();
      const isDrained = stdout.write(text);
      status.isAtLineStart = !stdout.isTTY || text === '' || text.endsWith('\n');
      status.show();
      if (isDrained) resolve();
      else stdout.once('drain', resolve);
    });
  const say = (message: string): void => {
    status.hide();
    const text = `depotctl: ${inert(inReadersWords(message, translate))}`;
    const lines = stderr.isTTY ? wrapMessage(text, columnsOf(stderr)) : text;
    stderr.write(`${status.isAtLineStart ? '' : '\n'}${lines}\n`);
    status.isAtLineStart = true;
    status.show();
  };
  let farewell: (() => string) | undefined;
  /** Ends the program as Ctrl-C does. */
  const interrupt = (): never => {
    status.change(() => '');
    // The terminal itself has written ^C.
    if (stderr.isTTY && status.isAtLineStart) stderr.write(CLEAR_LINE);
    say(farewell?.() ?? INTERRUPTED);
    process.exit(EXIT_INTERRUPTED);
  };
  process.on('SIGINT', interrupt);
  return {
    /** Resolves when more may be written. */
    print: (text: string) => write(hasShades ? inertBetweenShades(text) : inert(text)),
    printJson: (value: unknown) => write(`${inertJson(value)}\n`),
    /** A piece of what a program printed; a character may go on in the next one. */
    printLog: (piece: string | Buffer) =>
      write(inertOutput(typeof piece === 'string' ? piece : logDecoder.write(piece))),
    say,
    /**
     * One line below everything, which the next one takes the place of; empty: none. For people at
     * a terminal only; a function is asked for what fits its columns.
     */
    progress: (line: string | StatusText) =>
      status.change(typeof line === 'string' ? () => translate(line) : line),
    /** What is said at Ctrl-C, which ends the program; undefined: no more than that. */
    atInterrupt: (sentence: (() => string) | undefined): void => void (farewell = sentence),
    interrupt,
    /** For standard output, in the reader's language. */
    look: {
      columns: stdout.isTTY ? columnsOf(stdout) : undefined,
      paint: createPaint(hasShades),
      ...{ word, remedyOf, isEnglish },
    },
    /** Whether somebody reads what is printed and can answer. */
    isInteractive: stdin.isTTY && stdout.isTTY,
  };
}

/** The last line of a terminal, kept below what is printed. */
function createStatusLine() {
  const { stderr } = process;
  let line: StatusText = () => '';
  // A line that wraps could not be erased.
  const textOf = (text: StatusText): string => {
    const columns = columnsOf(stderr) - 1;
    return fitting(inert(text(columns)), columns);
  };
  const canShow = (): boolean => stderr.isTTY && status.isAtLineStart && textOf(line) !== '';
  const status = {
    /** Whether what was printed before ended with its line: within one there is no room. */
    isAtLineStart: true,
    change: (next: StatusText): void => {
      if (textOf(next) === textOf(line)) return;
      status.hide();
      line = next;
      status.show();
    },
    hide: (): void => {
      if (canShow()) stderr.write(CLEAR_LINE);
    },
    show: (): void => {
      if (canShow()) stderr.write(textOf(line));
    },
  };
  return status;
}

/** A terminal that does not know its size, such as a serial line, says 0. */
function columnsOf({ columns }: NodeJS.WriteStream): number {
  return columns > 0 ? columns : 80;
}

/** What leads up to a sentence, such as an arrow or a task's title, stays. */
function inReadersWords(message: string, translate: (sentence: string) => string): string {
  const [, lead = '', sentence = ''] = /^((?:\s*\u2192 )?)(.*)$/s.exec(message) ?? [];
  const whole = translate(sentence);
  if (whole !== sentence) return `${lead}${whole}`;
  const at = sentence.indexOf(': cannot ');
  if (at < 0) return message;
  return `${lead}${sentence.slice(0, at)}: ${translate(sentence.slice(at + 2))}`;
}
