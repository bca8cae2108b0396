/** A program to run, never a shell string. The environment is the whole one that it gets. */
export interface Command {
  argv: [string, ...string[]];
  environment: Record<string, string>;
  /** Working folder; default: `/`. */
  cwd?: string;
  /** Paths whose file systems are written down behind a job's command (sync(1)). */
  writesDown?: readonly string[];
}

export interface RunLimits {
  timeoutMs: number;
  /** Most bytes of both outputs together. */
  maxBytes: number;
  signal?: AbortSignal;
  /** Has each piece of the standard output as it comes; the result has none of it then. */
  onStdout?: (piece: Buffer) => void;
}

export interface RunResult {
  /** undefined if the program could not be started or did not end by itself. */
  exitCode: number | undefined;
  stdout: string;
  stderr: string;
  /** Which limit ended it, if one did. */
  cutShortBy?: 'time' | 'output' | 'stop';
  /** Why it could not be started, if that is so. */
  error?: unknown;
}

/**
 * Aborts after so many milliseconds, also as one of several of an `AbortSignal.any`. Of those Node
 * lets go of an `AbortSignal.timeout` that nobody listens to, and its time never comes.
 */
export function timeLimit(limitMs: number): AbortSignal {
  const signal = AbortSignal.timeout(limitMs);
  signal.addEventListener('abort', () => undefined, { once: true });
  return signal;
}
