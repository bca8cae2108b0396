/**
 * Asks at the terminal; false also if the input ends.
 * @param atInterrupt what Ctrl-C does; if it comes back, the answer is no
 * @param options.isEnterYes what Enter alone says; default yes
 */
export async function ask(
  question: string,
  atInterrupt: () => void,
  { isEnterYes = true } = {},
): Promise<boolean> {
  const { createInterface } = await import('node:readline');
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    lines.on('SIGINT', () => {
      lines.close();
      atInterrupt();
    });
    const answer = await new Promise<string>((resolve) => {
      lines.once('close', () => {
        process.stderr.write('\n');
        resolve('no');
      });
      lines.question(question, (text) => {
        lines.removeAllListeners('close');
        resolve(text);
      });
    });
    if (answer.trim() === '') return isEnterYes;
    return /^\s*(?:y|yes|\u662f)\s*$/i.test(answer);
  } finally {
    lines.close();
  }
}
