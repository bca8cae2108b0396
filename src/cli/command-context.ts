import type { Client } from './client.ts';
import type { Invocation } from './command-line.ts';
import type { Output } from './terminal/output.ts';

/** What every command gets. */
export interface CommandContext {
  client: Client;
  output: Output;
  invocation: Invocation;
}
