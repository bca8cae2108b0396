import { destination, pino } from 'pino';

/** The daemon's own log. Jobs write to files of their own. */
export interface Log {
  level: string;
  debug(fields: object, event: string): void;
  info(fields: object, event: string): void;
  warn(fields: object, event: string): void;
  error(fields: object, event: string): void;
}

/**
 * @param level the least level that is written, one of pino's; it can be changed later by assigning
 *   `level`
 * @param write is given each event as a line of JSON; default: writes it to stderr
 */
export function createLog(level: string, write = openOutput(2).write): Log {
  return pino({ level, base: null, messageKey: 'event', redact: REDACTED }, { write });
}

/** Nothing logs such a field; one that did by mistake would still not show what it holds. */
const SECRETS = ['token', 'password', 'cookie', 'authorization', 'key'];
const REDACTED = {
  paths: SECRETS.flatMap((name) => [name, `*.${name}`]),
  censor: '(not shown)',
};

/** A descriptor that is written to before the call returns, so that no crash loses a line. */
export function openOutput(descriptor: number): { write: (line: string) => void } {
  const output = destination({ fd: descriptor, sync: true });
  return { write: (line) => void output.write(line) };
}
