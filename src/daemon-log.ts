import type { Config } from './config/config.ts';
import { commandEnvironment } from './config/environment.ts';
import { createLogger } from './device/logger.ts';
import { findSyslogLink, type SyslogLink } from './device/syslog.ts';
import { createLog, openOutput } from './log.ts';
import { datedText, ERROR, eventText, WARN } from './log/event-text.ts';

type LogOptions = Pick<Config['main'], 'log_level' | 'log_format'>;

/** Where the log goes was decided when the daemon was started; how it looks, its owner decides. */
export function createDaemonLog(options: LogOptions) {
  const link = findSyslogLink();
  const write = createWriter(link);
  let isText = isTextual(options, link);
  const textOf = link === 'none' ? datedText : eventText;
  const log = createLog(options.log_level, (json, event) => {
    write(event.level, isText ? textOf(event) : json.trimEnd());
  });
  return {
    log,
    /** Has the log go by another configuration. */
    configure: (next: LogOptions): void => {
      log.level = next.log_level;
      isText = isTextual(next, link);
    },
  };
}

function isTextual({ log_format: format }: LogOptions, link: SyslogLink): boolean {
  return format === 'auto' ? link !== 'none' : format === 'text';
}

/** Each line reaches syslog with the priority of its level. */
function createWriter(link: SyslogLink): (level: number, line: string) => void {
  const stderr = openOutput(2);
  if (link === 'none') return (_level, line) => stderr.write(`${line}\n`);
  if (link === 'prefix') return (level, line) => stderr.write(`<${priorityOf(level)}>${line}\n`);
  const stdout = openOutput(1);
  // procd has no way to say it.
  const warn = createLogger({
    priority: 'daemon.warning',
    environment: commandEnvironment(),
    giveUp: (lines) => stderr.write(lines.map((line) => `${line}\n`).join('')),
  });
  return (level, line) => {
    if (level >= ERROR) stderr.write(`${line}\n`);
    else if (level >= WARN) warn(line);
    else stdout.write(`${line}\n`);
  };
}

/** Syslog's (RFC 5424, section 6.2.1): 2 critical, 3 error, 4 warning, 6 informational, 7 debug. */
function priorityOf(level: number): number {
  if (level > ERROR) return 2;
  if (level === ERROR) return 3;
  if (level >= WARN) return 4;
  return level >= 30 ? 6 : 7;
}
