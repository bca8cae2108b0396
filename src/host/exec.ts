import type { Options } from 'execa';
import type { Command } from './host.ts';

/**
 * Runs programs: the one place that does. The library is loaded with the first command, since a daemon at rest needs none.
 */

/** A detached process that outlives the daemon. `input` is its standard input; output goes to the descriptor given. */
export interface Detached {
  pid: number;
  /** Writes the text to the process's standard input and closes it. */
  finishInput: (text: string) => void;
  ended: Promise<void>;
}

/** @throws an Error of Node where the program cannot be started */
export async function startDetached(command: Command, outputDescriptor: number): Promise<Detached> {
  const { execa } = await import('execa');
  const [program, ...args] = command.argv;
  // Any descriptor will do, though the types of the library name only a few.
  const output = outputDescriptor as 3;
  const options = {
    cwd: command.cwd,
    env: command.environment,
    extendEnv: false,
    detached: true,
    cleanup: false,
    reject: false,
    buffer: false,
    stdin: 'pipe',
    stdout: output,
    stderr: output,
  } as const satisfies Options;
  const child = execa(program, args, options);
  const ended = child.then(() => undefined);
  if (child.pid === undefined) throw new Error(`cannot start ${program}`, { cause: await child });
  child.unref();
  // The daemon may go before the pipe does; the process sees the end of its input either way.
  child.stdin.on('error', () => undefined);
  return { pid: child.pid, finishInput: (text) => child.stdin.end(text), ended };
}

export interface CommandResult {
  /** undefined where the program could not be started or was ended by a signal. */
  exitCode: number | undefined;
  stdout: string;
  stderr: string;
}

/** Runs a short command to its end, its output kept. Never throws for a failing command. */
export async function run(command: Command, limits: { timeoutMs: number; maxBytes: number }): Promise<CommandResult> {
  const { execa } = await import('execa');
  const [program, ...args] = command.argv;
  const result = await execa(program, args, {
    cwd: command.cwd,
    env: command.environment,
    extendEnv: false,
    reject: false,
    stdin: 'ignore',
    stripFinalNewline: false,
    timeout: limits.timeoutMs,
    maxBuffer: limits.maxBytes,
  });
  return { exitCode: result.exitCode, stdout: result.stdout, stderr: result.stderr };
}
