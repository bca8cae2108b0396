import type { Client } from './daemon-client.ts';
import type { Invocation } from './command-line.ts';
import type { Output } from './terminal/output.ts';
import { formatFields, formatTable } from './terminal/table.ts';

/** What every command gets. */
export interface CommandContext {
  client: Client;
  output: Output;
  invocation: Invocation;
}

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
  if (invocation.given.has('json')) await output.printJson(answer);
  else if (rows.length === 0) output.say(none);
  else await output.print(formatTable(headings, rows, output.look));
  return 0;
}

/** An answer about one thing, a field a line. */
export async function printFields(
  { output, invocation }: CommandContext,
  answer: unknown,
  fields: readonly (readonly [string, string])[],
): Promise<number> {
  if (invocation.given.has('json')) await output.printJson(answer);
  else await output.print(formatFields(fields, output.look));
  return 0;
}
