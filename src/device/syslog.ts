import { fstatSync } from 'node:fs';
import { syslogHints } from '../config/environment.ts';
import { orElse } from '../errors.ts';
import { readProcess } from './process-table.ts';

/**
 * How what the daemon writes reaches a syslog.
 * `none`: it does not, as far as can be told.
 * `prefix`: whoever reads stderr takes `<N>` at the beginning of a line for its priority
 * (sd-daemon(3); logger(1) with --prio-prefix).
 * `procd`: procd gives lines of stdout to syslog as daemon.info and those of stderr as daemon.err,
 * whatever stands in them.
 */
export type SyslogLink = 'none' | 'prefix' | 'procd';

export function findSyslogLink(): SyslogLink {
  const { journalStream, hasPrefixReader } = syslogHints();
  if (hasPrefixReader) return 'prefix';
  // A descriptor may be closed.
  const [stdout, stderr] = [1, 2].map((number) => orElse(() => fstatSync(number), undefined));
  if (stderr !== undefined && journalStream === `${stderr.dev}:${stderr.ino}`) return 'prefix';
  // Without `stdout` procd leads a daemon's output nowhere.
  const isPiped = stderr?.isFIFO() === true && stdout?.isFIFO() === true;
  return isPiped && readProcess(process.ppid)?.name === 'procd' ? 'procd' : 'none';
}
