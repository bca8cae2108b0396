import { closeSync, openSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { Command, RunLimits, RunResult } from './command.ts';
import { inTime } from './disk/patience.ts';

/** The one place that runs programs. The library is loaded with the first command. */

/**
 * A detached process that outlives the daemon.
 * @throws an Error of Node if the program cannot be started
 */
export async function startDetached(command: Command, outputDescriptor: number) {
  const { execa } = await import('execa');
  const [program, ...args] = command.argv;
  if (!hasDescriptors()) throw withoutDescriptors(program);
  // Any descriptor will do, though the types of the library name only a few.
  const output = outputDescriptor as 3;
  const streams = { stdin: 'pipe', stdout: output, stderr: output } as const;
  const child = execa(program, args, { ...ownGroup(command), ...streams, cleanup: false });
  const ended = child.then(({ exitCode }) => exitCode);
  if (child.pid === undefined) throw new Error(`cannot start ${program}`, { cause: await child });
  child.unref();
  // The daemon may go before the pipe does; the process sees the end of its input either way.
  child.stdin.on('error', () => undefined);
  return {
    pid: child.pid,
    /** Writes to the standard input of the process, which the other one closes. */
    say: (text: string): void => void child.stdin.write(text),
    finishInput: (text: string): void => void child.stdin.end(text),
    /** Resolves at the end of the process, with its exit code unless a signal ended it. */
    ended,
  };
}

/** Options of a start in a process group of its own, with no other environment. */
function ownGroup({ cwd = '/', environment: env }: Command) {
  const bare = { extendEnv: false, detached: true, reject: false, buffer: false } as const;
  return { cwd, env, ...bare };
}

/** Both ends of three pipes, and what libuv and the program itself open on the way. */
const DESCRIPTORS_OF_A_START = 12;

/**
 * Without those for the pipes Node's spawn emits an error before execa listens for it, which would
 * end the daemon. To be asked in the same turn.
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

/** Wait for output after a command's end: what left its process group may hold the pipe. */
const LAST_OUTPUT_MS = 200;
/** A process that the kernel holds, by a disk that does not answer, outlives SIGKILL. */
const AFTER_KILL_MS = 2000;

/**
 * Runs a short command in a process group of its own, and ends the whole group with it, or when a
 * limit is passed. Never throws for a failing command; outlasts limits by AFTER_KILL_MS at most.
 */
export async function run(command: Command, limits: RunLimits): Promise<RunResult> {
  const { execa } = await import('execa');
  const [program, ...args] = command.argv;
  if (!hasDescriptors()) return notStarted(withoutDescriptors(program));
  const child = execa(program, args, { ...ownGroup(command), stdin: 'ignore' });
  const { pid } = child;
  if (pid === undefined) return notStarted(await child);

  let timer: NodeJS.Timeout | undefined;
  let cutShortBy: RunResult['cutShortBy'];
  let onCut: () => void = () => undefined;
  /** Kills the group; the first reason counts. */
  const cut = (limit: NonNullable<typeof cutShortBy>): void => {
    if (cutShortBy !== undefined) return;
    cutShortBy = limit;
    sendSignal(-pid, 'SIGKILL');
    setTimeout(onCut, AFTER_KILL_MS).unref();
  };
  const onAbort = (): void => cut('stop');
  const lastOutput = collect([child.stdout, child.stderr], limits, () => cut('output'));
  const exitCode = await new Promise<number | undefined>((resolve) => {
    onCut = () => resolve(undefined);
    child.once('exit', (code) => resolve(code ?? undefined));
    timer = setTimeout(() => cut('time'), limits.timeoutMs);
    limits.signal?.addEventListener('abort', onAbort, { once: true });
    if (limits.signal?.aborted === true) onAbort();
  });
  clearTimeout(timer);
  limits.signal?.removeEventListener('abort', onAbort);
  sendSignal(-pid, 'SIGKILL');
  const [stdout, stderr] = await lastOutput();
  return { exitCode, stdout, stderr, ...(cutShortBy !== undefined && { cutShortBy }) };
}

/**
 * Locks an open file with flock(1), of util-linux or busybox, or waits for who has it. The lock
 * stays with the descriptor when the program has ended.
 * @returns `held` if the time is over, `failed` without the program or a file system that locks
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

/** To a process, or to the group that a negative number names; nothing if it has ended. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended meanwhile.
  }
}

/** Keeps what the streams bring, up to the limit; `onTooMuch` is called when that is passed. */
function collect(
  [stdout, stderr]: readonly [Readable, Readable],
  { maxBytes, onStdout }: RunLimits,
  onTooMuch: () => void,
): () => Promise<[string, string]> {
  let bytes = 0;
  const listen = (stream: Readable, keep: (piece: Buffer) => void): Promise<void> => {
    stream.on('data', (piece: Buffer) => {
      bytes += piece.length;
      if (bytes > maxBytes) onTooMuch();
      else keep(piece);
    });
    return new Promise((resolve) => stream.once('close', resolve).on('error', () => resolve()));
  };
  const [printed, errors]: [Buffer[], Buffer[]] = [[], []];
  const closed = Promise.all([
    listen(stdout, onStdout ?? ((piece) => printed.push(piece))),
    listen(stderr, (piece) => errors.push(piece)),
  ]);
  return async () => {
    await inTime(closed, LAST_OUTPUT_MS);
    // One turn of the event loop: a busy daemon may not have read the pipes since.
    await setImmediate();
    stdout.destroy();
    stderr.destroy();
    return [Buffer.concat(printed).toString('utf8'), Buffer.concat(errors).toString('utf8')];
  };
}
