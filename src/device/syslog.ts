import { fstatSync, readFileSync } from 'node:fs';
import { syslogHints } from '../config/environment.ts';

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
  const stderr = statOf(2);
  if (stderr !== undefined && journalStream === `${stderr.dev}:${stderr.ino}`) return 'prefix';
  // Without `stdout` procd leads a daemon's output nowhere.
  const isPiped = stderr?.isFIFO() === true && statOf(1)?.isFIFO() === true;
  return isPiped && nameOf(process.ppid) === 'procd' ? 'procd' : 'none';
}

function statOf(descriptor: number): ReturnType<typeof fstatSync> | undefined {
  try {
    return fstatSync(descriptor);
  } catch {
    // The descriptor is closed.
    return undefined;
  }
}

function nameOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    // The process has ended, or is hidden (proc(5), hidepid).
    return '';
  }
}
