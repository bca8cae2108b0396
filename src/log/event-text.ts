/** pino's levels: 10 trace, 20 debug, 30 info, 40 warn, 50 error, 60 fatal. */
export interface LogEvent {
  level: number;
  /** Unix milliseconds. */
  time: number;
  event: string;
  [field: string]: unknown;
}

export const WARN = 40;
export const ERROR = 50;

const LEVEL_NAMES: Readonly<Record<number, string>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
};

/** Fields that are written without their value, at any depth. */
export const SECRETS: readonly string[] = ['token', 'password', 'cookie', 'authorization', 'key'];
export const CENSORED = '(not shown)';

/** Fields that are in every event, and that syslog has itself. */
const OWN_FIELDS = ['level', 'time', 'event'];

/** What needs no quotes; everything else is written as JSON, control characters escaped. */
const PLAIN = /^[\p{L}\p{N}_./:@%+,~[\]*-]+$/u;

/** `job ended task=… kind=install`: for a syslog that has level and time itself. */
export function eventText(event: LogEvent): string {
  const fields = Object.entries(event).filter(
    ([name, value]) => !OWN_FIELDS.includes(name) && value !== undefined,
  );
  const words = fields.map(([name, value]) => `${name}=${valueText(name, value)}`);
  return [event.event, ...words].join(' ');
}

/** An event's text with what no syslog adds: `2026-01-31T12:00:00.000Z info job ended task=…`. */
export function datedText(event: LogEvent): string {
  const level = LEVEL_NAMES[event.level] ?? String(event.level);
  return `${new Date(event.time).toISOString()} ${level} ${eventText(event)}`;
}

function valueText(name: string, value: unknown): string {
  if (SECRETS.includes(name)) return CENSORED;
  if (typeof value === 'string' && PLAIN.test(value)) return value;
  return JSON.stringify(value, (key, inner: unknown) => (SECRETS.includes(key) ? CENSORED : inner));
}
