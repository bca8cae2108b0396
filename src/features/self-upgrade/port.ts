import type { Command } from '../../device/command.ts';

/** Replaces the package that this daemon runs from, without it. */
export interface SelfUpgradeHost {
  /**
   * Packs the package as it is installed into a file on flash, from which it can be put back.
   * @throws DepotError internal, no_space
   */
  saveOldVersion: (name: string) => Promise<void>;
  /**
   * Upgrades the package and waits for the new daemon's health; ends with one of
   * SELF_UPGRADE_EXITS.
   */
  command: (name: string) => Command;
  /** The watcher once more, as it is called at boot; of two, one waits for the other. */
  commandAgain: () => Command;
  /** `waiting` for a watcher; `kept` after one that could put neither version in order. */
  state: () => Promise<'waiting' | 'kept' | 'gone'>;
  /**
   * Removes what was kept, unless it waits for a watcher: after a power cut one is called at boot.
   */
  forget: () => Promise<void>;
}
