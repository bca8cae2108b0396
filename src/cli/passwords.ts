import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { DepotError } from '../errors.ts';

/** Passwords: typed at a terminal, where they are not shown, or the lines of standard input. */
export interface Secrets {
  /** Whether somebody is asked. */
  isAsking: boolean;
  /** @param prompt what a person reads; @returns the next line, empty if there is none */
  next: (prompt: string) => Promise<string>;
  /** The same, for what is no secret: shown while it is typed. */
  nextShown: (prompt: string) => Promise<string>;
  close: () => void;
}

interface Streams {
  input: NodeJS.ReadableStream & { isTTY?: boolean };
  /** Where the person who types a password reads. */
  output: NodeJS.WritableStream;
  /** What Ctrl-C does, on a line of its own. */
  atInterrupt: () => void;
  /** Puts what is asked into the reader's language. */
  word: (text: string) => string;
}

export function openSecrets(streams: Streams): Secrets {
  const { input } = streams;
  return input.isTTY === true ? askedSecrets(streams) : readSecrets(input);
}

/** What is typed goes nowhere unless it is no secret. */
function askedSecrets({ input, output, atInterrupt, word }: Streams): Secrets {
  let isShown = false;
  const echo = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      if (isShown) output.write(chunk);
      done();
    },
  });
  const lines = createInterface({ input, output: echo, terminal: true, historySize: 0 });
  lines.on('SIGINT', () => {
    lines.close();
    atInterrupt();
  });
  const ask = (question: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const prompt = word(question);
      if (!isShown) output.write(prompt);
      const onClose = (): void => {
        output.write('\n');
        reject(new DepotError('command_failed', 'cannot go on without a password'));
      };
      lines.once('close', onClose);
      lines.question(isShown ? prompt : '', (line) => {
        lines.off('close', onClose);
        if (!isShown) output.write('\n');
        resolve(line);
      });
    });
  return {
    isAsking: true,
    next: ask,
    nextShown: async (prompt) => {
      isShown = true;
      try {
        return await ask(prompt);
      } finally {
        isShown = false;
      }
    },
    close: () => lines.close(),
  };
}

const MOST_BYTES = 16 * 1024;

export function readSecrets(input: AsyncIterable<string | Uint8Array>): Secrets {
  let rest: Promise<string[]> | undefined;
  const next = async (): Promise<string> => {
    rest ??= readText(input).then((text) => text.split(/\r?\n/));
    return (await rest).shift() ?? '';
  };
  return { isAsking: false, next, nextShown: next, close: () => undefined };
}

async function readText(input: AsyncIterable<string | Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of input) {
    const buffer = Buffer.from(piece);
    pieces.push(buffer);
    bytes += buffer.length;
    if (bytes > MOST_BYTES) break;
  }
  return Buffer.concat(pieces).toString('utf8');
}
