import type { RunLimits, RunResult } from '../../device/command.ts';

/**
 * What apps have beside their packages: their configuration, and the scripts that tell their state.
 */
export interface AppFiles {
  /** A text that changes when the UCI file does; undefined if there is none. */
  configVersion: (uci: string) => Promise<string | undefined>;
  /**
   * The same for the scripts that the app's state comes from; undefined if it has no entry
   * script.
   */
  scriptVersion: (app: string) => Promise<string | undefined>;
  /**
   * Runs the app's entry script: `NAME.sh status HOSTNAME`. It and all that it started are gone
   * when this settles.
   */
  runEntryScript: (app: string, hostname: string, limits: RunLimits) => Promise<RunResult>;
}
