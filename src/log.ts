import { destination, pino } from 'pino';
import { CENSORED, SECRETS, type LogEvent } from './log/event-text.ts';

/** The daemon's own log. Jobs write to files of their own. */
export interface Log {
  level: string;
  debug(fields: object, event: string): void;
  info(fields: object, event: string): void;
  warn(fields: object, event: string): void;
  error(fields: object, event: string): void;
}

/**
 * @param level of pino's, the least that is written; assigning `level` changes it later
 * @param write gets each event as JSON and as it was logged; default: to stderr
 */
export function createLog(
  level: string,
  write: (json: string, event: LogEvent) => void = openOutput(2).write,
): Log {
  // pino leaves in such a stream what the line was made of, so that nobody has to parse it.
  const stream = {
    [Symbol.for('pino.metadata')]: true,
    lastLevel: 0,
    lastMsg: '',
    lastObj: {},
    write: (json: string) => {
      const { lastLevel, lastMsg, lastObj } = stream;
      write(json, { ...lastObj, level: lastLevel, time: Date.now(), event: lastMsg });
    },
  };
  return pino({ level, base: null, messageKey: 'event', redact: REDACTED }, stream);
}

/** No secret is logged; a field that is by mistake would still not show what it holds. */
const REDACTED = { paths: SECRETS.flatMap((name) => [name, `*.${name}`]), censor: CENSORED };

/** A descriptor that is written to before the call returns, so that no crash loses a line. */
export function openOutput(descriptor: number): { write: (line: string) => void } {
  const output = destination({ dest: descriptor, sync: true });
  return { write: (line) => void output.write(line) };
}
