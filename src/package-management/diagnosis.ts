/** What the doctor asks a package manager; nothing is changed, locked or fetched for it. */
export interface Diagnosis {
  /**
   * @returns what keeps its records from being used, a sentence in lower case; undefined if they
   *   are sound
   */
  findDamage: () => Promise<{ message: string; remedy: string } | undefined>;
  lockFile: string;
  /**
   * @returns the process that changes packages at this moment, 0 if the system does not tell it;
   *   undefined if nobody does
   */
  lockHolder: () => Promise<number | undefined>;
  /** What its record binds to one file by hash, and whether a feed has that file; default: none. */
  hashPins?: () => Promise<{ name: string; isOffered: boolean }[]>;
}
