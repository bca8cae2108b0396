/** What a list shows of an app or a package. */
export interface IndexRow {
  name: string;
  isApp: boolean;
  /** It is an app, and its name is that of its package. */
  isLuciApp?: true;
  /** As people call it; empty if that is the name. */
  title: string;
  description: string;
  version: string;
  tags: readonly string[];
  section: string;
  feed: string;
  downloadBytes: number;
  installedBytes: number;
  /** Unix seconds, 0 if nobody says. */
  time: number;
}

/** A row as it comes from a list. */
export interface SourceRow extends IndexRow {
  /** Packages that describe an app which does not say more than its title, the best first. */
  describedBy?: readonly string[];
  /** Of an app: packages that are no apps beside it. */
  brings?: readonly string[];
  /** Of a package: the app that it is unless an app brings it. */
  asApp?: SourceRow;
}
