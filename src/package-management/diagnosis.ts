/** What the doctor asks a package manager; nothing is changed, locked or fetched for it. */
export interface Diagnosis {
  /** @returns what keeps its records from being used; undefined if they are sound */
  findDamage: () => Promise<Damage | undefined>;
  /** @returns who changes packages at this moment; undefined if nobody does */
  lockHolder: () => Promise<LockHolder | undefined>;
  /** What its record binds to one file by hash, and whether a feed has that file; default: none. */
  hashPins?: () => Promise<{ name: string; isOffered: boolean }[]>;
}

export interface Damage {
  /** A sentence, lower case. */
  message: string;
  remedy: string;
}

export interface LockHolder {
  file: string;
  /** 0 if the system does not tell the process. */
  pid: number;
}
