import type { Problem } from './problem.ts';

/** What the package manager would do for a change. */
export interface Preview {
  changes: PreviewedChange[];
  /** If there is no room for all of it: what it would change if there were. */
  changesWithRoom?: PreviewedChange[];
  /** What would keep the change from being made, or a part of it from coming about. */
  problems: Problem[];
  /** For packages, on the device. */
  freeBytes: number;
}

export interface PreviewedChange {
  action: 'install' | 'upgrade' | 'remove';
  name: string;
  /** The version that comes; of a removal, the one that goes. */
  version: string;
  /** The version that is there before an upgrade. */
  fromVersion?: string;
  /** `orphan`: a dependency that nothing needs any more; `translation`: for the panel's language */
  reason: 'asked' | 'dependency' | 'orphan' | 'replaced' | 'translation';
  /** To be fetched; absent for removals, and if the feeds do not say. */
  downloadBytes?: number;
  /** What the device's storage grows by: installed size, new less old; negative for removals. */
  diskBytes: number;
}
