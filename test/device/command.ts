import { spawn } from 'node:child_process';
import { constants } from 'node:os';

export interface Outcome {
  /** As a shell tells it: 128 and the signal's number after a signal. */
  code: number;
  stdout: string;
  stderr: string;
}

export interface RunningCommand {
  readonly pid: number;
  /**
   * The exit code, when the program itself has ended. What it started may still hold its output
   * open.
   */
  readonly exit: Promise<number>;
  /** Settles when the program has ended and nobody can write to its output any more. */
  readonly outcome: Promise<Outcome>;
  /** Settles when the text has appeared on stdout; fails when the output ends without it. */
  readonly printed: (text: string) => Promise<void>;
  readonly signal: (name: 'SIGINT' | 'SIGTERM' | 'SIGKILL') => void;
}

export interface CommandOptions {
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  /** Standard input; empty unless given. */
  input?: string;
}

/** Starts a program without a shell. */
export function startCommand(
  words: readonly [string, ...string[]],
  { input = '', ...options }: CommandOptions = {},
): RunningCommand {
  const [program, ...args] = words;
  const child = spawn(program, args, { ...options, stdio: 'pipe' });
  // A program that reads nothing may end before it was given all.
  child.stdin.on('error', () => undefined).end(input);
  const watchers = new Set<() => void>();
  const text = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (piece: string) => {
      text[name] += piece;
      for (const check of watchers) check();
    });
  }
  const exit = new Promise<number>((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) =>
      resolve(signal === null ? (code ?? 0) : 128 + constants.signals[signal]),
    );
  });
  const closed = new Promise((resolve) => child.on('close', resolve));
  const outcome = exit.then(async (code) => {
    await closed;
    return { code, ...text };
  });
  const printed = (wanted: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const check = (): void => {
        if (text.stdout.includes(wanted)) resolve();
      };
      watchers.add(check);
      check();
      void closed.then(() =>
        reject(
          new Error(
            `cannot find "${wanted}" in what ${program} printed: ${text.stdout}${text.stderr}`,
          ),
        ),
      );
    });
  return { pid: child.pid ?? 0, exit, outcome, printed, signal: (name) => void child.kill(name) };
}

export function runCommand(
  words: readonly [string, ...string[]],
  options: CommandOptions = {},
): Promise<Outcome> {
  return startCommand(words, options).outcome;
}
