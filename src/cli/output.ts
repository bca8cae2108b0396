/** What the program says: results and logs on standard output, its own words on standard error. */
export interface Output {
  /** Resolves when more may be written. */
  print: (text: string | Buffer) => Promise<void>;
  say: (message: string) => void;
  /** One line that the next one takes the place of; for people at a terminal only. */
  progress: (line: string) => void;
}

/** As a shell tells the end by SIGPIPE, which Node's programs do not get: 128 and 13. */
const EXIT_PIPE = 141;

/** Back to the start of the line, and what stands there erased (ECMA-48, EL). */
const CLEAR_LINE = '\r\x1b[K';

/** Ends the program when its reader has gone, such as `head`. */
export function createOutput(): Output {
  const { stdout, stderr } = process;
  for (const stream of [stdout, stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(EXIT_PIPE);
      throw error;
    });
  }
  return {
    print: (text) =>
      new Promise((resolve) => {
        if (stdout.write(text)) resolve();
        else stdout.once('drain', resolve);
      }),
    say: (message) => void stderr.write(`${stderr.isTTY ? CLEAR_LINE : ''}depotctl: ${message}\n`),
    progress: (line) => {
      if (stderr.isTTY) stderr.write(`${CLEAR_LINE}${line}`);
    },
  };
}
