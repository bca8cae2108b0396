/**
 * Asks a person at the terminal a question that yes or no answers; yes is what Enter alone says.
 * @returns false also if the input ends
 */
export async function ask(question: string): Promise<boolean> {
  const { createInterface } = await import('node:readline');
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await new Promise<string>((resolve) => {
      lines.once('close', () => resolve('no'));
      lines.question(question, resolve);
    });
    return /^\s*(?:y|yes|\u662f)?\s*$/i.test(answer);
  } finally {
    lines.close();
  }
}
