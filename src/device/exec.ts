import { closeSync, openSync } from 'node:fs';
import type { Readable } from 'node:stream';
import type { Options } from 'execa';
import type { Command, RunLimits, RunResult } from './command.ts';

/**
 * Runs programs: the one place that does. The library is loaded with the first command, since a
 * daemon at rest needs none.
 */

/**
 * A detached process that outlives the daemon. `input` is its standard input; output goes to the
 * descriptor given.
 */
export interface Detached {
  pid: number;
  /** Writes the text to the process's standard input. */
  say: (text: string) => void;
  /** The same, and closes it. */
  finishInput: (text: string) => void;
  ended: Promise<void>;
}

/** @throws an Error of Node if the program cannot be started */
export async function startDetached(command: Command, outputDescriptor: number): Promise<Detached> {
  const { execa } = await import('execa');
  const [program, ...args] = command.argv;
  if (!hasDescriptors()) throw withoutDescriptors(program);
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
  return {
    pid: child.pid,
    say: (text) => void child.stdin.write(text),
    finishInput: (text) => child.stdin.end(text),
    ended,
  };
}

/** Both ends of three pipes, and what libuv and the program itself open on the way. */
const DESCRIPTORS_OF_A_START = 12;

/**
 * Without descriptors for the pipes, Node's spawn emits an error before execa listens for it, which
 * would end the daemon. So they are asked for first, in the same turn.
 */
function hasDescriptors(): boolean {
  const descriptors: number[] = [];
  try {
    while (descriptors.length < DESCRIPTORS_OF_A_START) {
      descriptors.push(openSync('/dev/null', 'r'));
    }
    return true;
  } catch {
    return false;
  } finally {
    descriptors.forEach((descriptor) => closeSync(descriptor));
  }
}

function withoutDescriptors(program: string): Error {
  const text = `cannot start ${program}: no file descriptors are left`;
  return Object.assign(new Error(text), { code: 'EMFILE' });
}

function notStarted(error: { message?: string | undefined }): RunResult {
  return { exitCode: undefined, stdout: '', stderr: error.message ?? '', error };
}

/**
 * After its end a command's output is read for so long at most: something that left its process
 * group may hold the pipe.
 */
const LAST_OUTPUT_MS = 200;
/**
 * A process that the kernel holds (a disk that does not answer) outlives SIGKILL: nobody waits for
 * it longer.
 */
const AFTER_KILL_MS = 2000;

/**
 * Runs a short command in a process group of its own to its end, its output kept, and ends the
 * whole group with it, or when a limit is passed. Never throws for a failing command, and never
 * outlasts its limits by more than AFTER_KILL_MS.
 */
export async function run(command: Command, limits: RunLimits): Promise<RunResult> {
  const { execa } = await import('execa');
  const [program, ...args] = command.argv;
  if (!hasDescriptors()) return notStarted(withoutDescriptors(program));
  const options = {
    cwd: command.cwd,
    env: command.environment,
    extendEnv: false,
    detached: true,
    reject: false,
    buffer: false,
    stdin: 'ignore',
  } as const satisfies Options;
  const child = execa(program, args, options);
  const { pid } = child;
  if (pid === undefined) return notStarted(await child);

  const ending = createEnding(pid);
  child.once('exit', (code) => ending.resolve(code ?? undefined));
  const output = collect([child.stdout, child.stderr], limits, () => ending.cut('output'));
  const timer = setTimeout(() => ending.cut('time'), limits.timeoutMs);
  const onAbort = (): void => ending.cut('stop');
  limits.signal?.addEventListener('abort', onAbort, { once: true });
  if (limits.signal?.aborted === true) onAbort();
  const exitCode = await ending.exited;
  clearTimeout(timer);
  limits.signal?.removeEventListener('abort', onAbort);
  killGroup(pid);
  const [stdout, stderr] = await output.end(LAST_OUTPUT_MS);
  return { exitCode, stdout, stderr, ...ending.reason() };
}

/**
 * Locks an open file with flock(1), of util-linux or busybox, and waits while somebody else has it
 * locked. The lock stays with the descriptor when the program has ended.
 * @returns `held` if the time is over, `failed` if there is no such program or the file system
 *   knows no locks
 */
export async function lockDescriptor(
  descriptor: number,
  { environment, timeoutMs }: { environment: Record<string, string>; timeoutMs: number },
): Promise<'locked' | 'held' | 'failed'> {
  // Not by the library: it is loaded with the first job, and this runs at each start.
  const { spawn } = await import('node:child_process');
  const child = spawn('flock', ['-x', '3'], {
    env: environment,
    stdio: ['ignore', 'ignore', 'ignore', descriptor],
  });
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
    const end = (result: 'locked' | 'held' | 'failed'): void => {
      clearTimeout(timer);
      resolve(result);
    };
    child.once('error', () => end('failed'));
    child.once('exit', (code, signal) => {
      if (code === 0) end('locked');
      else end(signal === 'SIGKILL' ? 'held' : 'failed');
    });
  });
}

interface Ending {
  exited: Promise<number | undefined>;
  resolve: (exitCode: number | undefined) => void;
  /** Kills the group; the first reason counts. */
  cut: (limit: NonNullable<RunResult['cutShortBy']>) => void;
  reason: () => Pick<RunResult, 'cutShortBy'>;
}

function createEnding(pid: number): Ending {
  let cutShortBy: RunResult['cutShortBy'];
  let resolveExit: Ending['resolve'] = () => undefined;
  const exited = new Promise<number | undefined>((resolve) => (resolveExit = resolve));
  const cut: Ending['cut'] = (limit) => {
    if (cutShortBy !== undefined) return;
    cutShortBy = limit;
    killGroup(pid);
    setTimeout(() => resolveExit(undefined), AFTER_KILL_MS).unref();
  };
  return {
    exited,
    resolve: resolveExit,
    cut,
    reason: () => (cutShortBy === undefined ? {} : { cutShortBy }),
  };
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nothing of the group is left.
  }
}

/** Keeps what the streams bring, up to the limit; `onTooMuch` is called when that is passed. */
function collect(
  streams: readonly [Readable, Readable],
  { maxBytes, onStdout }: RunLimits,
  onTooMuch: () => void,
): { end: (graceMs: number) => Promise<[string, string]> } {
  const pieces: [Buffer[], Buffer[]] = [[], []];
  let bytes = 0;
  const closed = streams.map((stream, index) => {
    stream.on('data', (piece: Buffer) => {
      bytes += piece.length;
      if (bytes > maxBytes) onTooMuch();
      else if (index === 0 && onStdout !== undefined) onStdout(piece);
      else pieces[index === 0 ? 0 : 1].push(piece);
    });
    return new Promise<void>((resolve) =>
      stream.once('close', resolve).on('error', () => resolve()),
    );
  });
  return {
    end: async (graceMs) => {
      let timer: NodeJS.Timeout | undefined;
      await Promise.race([
        Promise.all(closed),
        new Promise((resolve) => (timer = setTimeout(resolve, graceMs))),
      ]);
      clearTimeout(timer);
      for (const stream of streams) stream.destroy();
      return [Buffer.concat(pieces[0]).toString('utf8'), Buffer.concat(pieces[1]).toString('utf8')];
    },
  };
}
