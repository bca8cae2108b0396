import type { CommandContext } from './command-context.ts';
import { formatTable } from './terminal/table.ts';

interface Rows {
  headings: readonly string[];
  rows: readonly (readonly string[])[];
  /** What is said if there are no rows. */
  none: string;
}

/** An answer for scripts, and for people a table of it. @returns the exit code */
export async function printRows(
  { output, invocation }: CommandContext,
  answer: unknown,
  { headings, rows, none }: Rows,
): Promise<number> {
  if (invocation.isJson) await output.printJson(answer);
  else if (rows.length === 0) output.say(none);
  else await output.print(formatTable(headings, rows, output.look));
  return 0;
}
