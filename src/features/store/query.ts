export const KINDS = ['app', 'package', 'all'] as const;
export const STATES = ['all', 'installed', 'upgradable'] as const;
export const SORTS = ['relevance', 'name', 'size', 'time'] as const;

/** What is asked of the list of everything. */
export interface Query {
  q: string;
  kind: (typeof KINDS)[number];
  /** Leaves out what is there for other packages alone. */
  isProgramsOnly: boolean;
  /** Leaves out packages of the image, what came along, and translations. */
  isAskedOnly: boolean;
  state: (typeof STATES)[number];
  /** Empty for any. */
  tag: string;
  sort: (typeof SORTS)[number];
}
