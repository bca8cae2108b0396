/** A program to run: an argument vector, never a shell string. The environment is the whole one that it gets. */
export interface Command {
  argv: [string, ...string[]];
  environment: Record<string, string>;
  /** Working folder. */
  cwd: string;
}
