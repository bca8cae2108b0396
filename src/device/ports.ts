import type { Command } from './command.ts';

/** Small records that outlive daemon and boot: JSON documents, replaced as a whole. */
export interface Notes {
  /** undefined if there is none, or if it is no JSON. */
  read: (name: string) => Promise<unknown>;
  write: (name: string, value: unknown) => Promise<void>;
}

/** Names a process for ever: its id alone is used again, with start time and boot it is not. */
export interface ProcessMark {
  pid: number;
  /** Start time in clock ticks after boot: field 22 of /proc/PID/stat (proc(5)). */
  startTicks: number;
  bootId: string;
  /** Whether the command sits behind script(1) on a pseudo-terminal. */
  isOnTerminal: boolean;
  /** The folder of the job's control group, if it has one. */
  cgroup?: string;
}

/** A command on hold until `go`. If the daemon dies before, it never runs. */
export interface HeldProcess {
  mark: ProcessMark;
  go: () => void;
  /** Lets it end without the command; resolves when it has. */
  abandon: () => Promise<void>;
  /**
   * Settles when the holder has ended while this daemon was its parent, with the command's exit
   * code; a hint only as long as the exit file says anything.
   */
  ended: Promise<number | undefined>;
}

export interface StartOptions {
  /** Marks every process of the job in its environment, so that each is found again. */
  jobId: string;
  command: Command;
  /** Output is appended here by the command itself: nothing passes through the daemon. */
  logFile: string;
  /**
   * At the command's end begins with a line of the exit code in decimal or `not-run`, and one of
   * the holder's process id. The end of the output may come to the log until the holder has gone.
   */
  exitFile: string;
}

export interface Processes {
  /** Identifies the time since the machine was started: /proc/sys/kernel/random/boot_id. */
  bootId: () => Promise<string>;
  /** A hint: a start that comes soon need not wait for the kernel. */
  expectStart: () => void;
  /** Detached from the daemon, on a pseudo-terminal if script(1) is there, and on hold. */
  start: (options: StartOptions) => Promise<HeldProcess>;
  /** @throws an Error of Node if that cannot be found out, so that nobody takes it for a no */
  isAlive: (mark: ProcessMark) => Promise<boolean>;
  /** To all of the job but who holds it, so that the exit code is written; returns how many. */
  signal: (job: { jobId: string; mark: ProcessMark }, signal: NodeJS.Signals) => Promise<number>;
  /** How many processes of the job there are, without those that hold it. */
  count: (job: { jobId: string; mark: ProcessMark }) => Promise<number>;
  /** The ids of all jobs of which a process lives, whoever started it. */
  jobsUnderWay: () => Promise<Set<string>>;
  /** Ends the holder itself and its control group at once, after all else has failed. */
  killHolder: (mark: ProcessMark) => Promise<void>;
}
