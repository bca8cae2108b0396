import type { Readable } from 'node:stream';
import type { Options } from 'execa';
import type { ScriptLimits, ScriptResult } from './goods.ts';
import type { Command } from './command.ts';

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

/** After its end a script's output is read for so long at most: something that left its process group may hold the pipe. */
const LAST_OUTPUT_MS = 200;

/**
 * Runs a script in a process group of its own and ends the whole group with it, or when a limit is passed. Never throws for a failing
 * script. Unlike `run` it does not wait for what the script left behind with its output open.
 */
export async function runScript(command: Command, limits: ScriptLimits): Promise<ScriptResult> {
  const { execa } = await import('execa');
  const [program, ...args] = command.argv;
  const options = { cwd: command.cwd, env: command.environment, extendEnv: false, detached: true, reject: false, buffer: false, stdin: 'ignore' } as const satisfies Options;
  const child = execa(program, args, options);
  const { pid } = child;
  if (pid === undefined) return { exitCode: undefined, stdout: '', stderr: (await child).message ?? '' };

  let cutShortBy: ScriptResult['cutShortBy'];
  const cut = (limit: NonNullable<typeof cutShortBy>): void => {
    cutShortBy ??= limit;
    killGroup(pid);
  };
  const exited = new Promise<number | undefined>((resolve) => child.once('exit', (code) => resolve(code ?? undefined)));
  const output = collect([child.stdout, child.stderr], limits.maxBytes, () => cut('output'));
  const timer = setTimeout(() => cut('time'), limits.timeoutMs);
  const onAbort = (): void => cut('stop');
  limits.signal.addEventListener('abort', onAbort, { once: true });
  if (limits.signal.aborted) onAbort();
  const exitCode = await exited;
  clearTimeout(timer);
  limits.signal.removeEventListener('abort', onAbort);
  killGroup(pid);
  const [stdout, stderr] = await output.end(LAST_OUTPUT_MS);
  return { exitCode, stdout, stderr, ...(cutShortBy === undefined ? {} : { cutShortBy }) };
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nothing of the group is left.
  }
}

/** Keeps what the streams bring, `most` bytes together; `onTooMuch` is called when that is passed. */
function collect(streams: readonly [Readable, Readable], most: number, onTooMuch: () => void): { end: (graceMs: number) => Promise<[string, string]> } {
  const pieces: [Buffer[], Buffer[]] = [[], []];
  let bytes = 0;
  const closed = streams.map((stream, index) => {
    stream.on('data', (piece: Buffer) => {
      bytes += piece.length;
      if (bytes > most) onTooMuch();
      else pieces[index === 0 ? 0 : 1].push(piece);
    });
    return new Promise<void>((resolve) => stream.once('close', resolve).on('error', () => resolve()));
  });
  return {
    end: async (graceMs) => {
      let timer: NodeJS.Timeout | undefined;
      await Promise.race([Promise.all(closed), new Promise((resolve) => (timer = setTimeout(resolve, graceMs)))]);
      clearTimeout(timer);
      for (const stream of streams) stream.destroy();
      return [Buffer.concat(pieces[0]).toString('utf8'), Buffer.concat(pieces[1]).toString('utf8')];
    },
  };
}
