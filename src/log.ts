import { destination, pino } from 'pino';

/** The daemon's own log: one JSON line an event, on stderr. Jobs write to files of their own. */
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
 */
export function createLog(level: string): Log {
  return pino({ level, base: null, messageKey: 'event' }, destination({ fd: 2, sync: true }));
}
